import type { Clock } from "../shared/clock.ts";
import { toStoreTextMs } from "../shared/instant.ts";
import type { Project } from "../shared/project.ts";
import type { Engine } from "../store/engine.ts";
import { StorageError } from "../store/storage-error.ts";
import { sql } from "../query/sql.ts";
import type { Budget, Scope, Window } from "./budget.ts";
import { decimalUsd, parseUsd } from "./usd.ts";

export interface BudgetStore {
  /** The budgets of a project; at most `MAX_AGE_MS` old if other processes write to the store. Errors: `StorageError`. */
  of(project: Project): Promise<readonly Budget[]>;
  all(): Promise<readonly Budget[]>;
  /** Number of changes by this process. */
  readonly writes: number;
  /** Adds or replaces a budget; resolves when it is durable. */
  put(budget: Budget, keyId: string): Promise<void>;
  /** Deletes a budget for good. */
  remove(budget: Budget, keyId: string): Promise<void>;
}

/** Age of the list at which a store with other writers is read again. */
const MAX_AGE_MS = 1000;
/** How long the last list holds while the store is away. */
const GRACE_MS = 300_000;
const DELETED = "18446744073709551615";

interface Row extends Pick<Budget, "id" | "name" | "scope" | "match" | "timezone" | "alerts"> {
  readonly project_id: Project;
  readonly limit_usd: string | null;
  readonly limit_tokens: number | null;
  readonly limit_requests: number | null;
  readonly time_window: Window | null;
  readonly on_unknown_price: Budget["onUnknownPrice"];
  readonly created_at_ms: number;
}

interface Listed {
  readonly all: readonly Budget[];
  readonly byProject: ReadonlyMap<string, readonly Budget[]>;
  /** When each was created, by id. */
  readonly createdAtMs: ReadonlyMap<string, number>;
  readonly writes: number | undefined;
  /** Own writes before it was read. */
  readonly ownWrites: number;
  readonly readAtMs: number;
}

export function createBudgetStore(engine: Engine, clock: Clock, steady: Clock): BudgetStore {
  let listed: Listed | undefined;
  let reading: Promise<Listed> | undefined;
  let lastVersion = 0;
  let ownWrites = 0;

  const read = async (): Promise<Listed> => {
    const state = { writes: engine.writeCountOf("budgets"), ownWrites, readAtMs: steady.now() };
    const rows = await engine.rows<Row>(
      sql`SELECT project_id, id, name, scope, match, toString(limit_usd) AS limit_usd, limit_tokens, limit_requests,
            time_window, timezone, on_unknown_price, alerts, toUnixTimestamp64Milli(created_at) AS created_at_ms
          FROM budgets FINAL WHERE deleted = 0 ORDER BY project_id, created_at, id`,
      { name: "budget_list", limits: "ingest" },
    );
    const all = rows.map(budgetOf);
    const createdAtMs = new Map(rows.map(({ id, created_at_ms }) => [id, created_at_ms]));
    return { all, byProject: Map.groupBy(all, ({ project }) => project), createdAtMs, ...state };
  };
  const isCurrent = (one: Listed): boolean =>
    one.ownWrites === ownWrites &&
    (one.writes === undefined
      ? steady.now() - one.readAtMs < MAX_AGE_MS
      : one.writes === engine.writeCountOf("budgets"));
  const current = async (): Promise<Listed> => {
    if (listed !== undefined && isCurrent(listed)) return listed;
    // one that is under way may have begun before a change
    await reading?.catch(() => undefined);
    if (listed !== undefined && isCurrent(listed)) return listed;
    try {
      reading ??= read().finally(() => (reading = undefined));
      return (listed = await reading);
    } catch (error) {
      const isAway = error instanceof StorageError && error.kind !== "statement";
      if (!isAway || listed === undefined || steady.now() - listed.readAtMs > GRACE_MS) throw error;
      return listed;
    }
  };
  const write = async (budget: Budget, keyId: string, version?: string): Promise<void> => {
    lastVersion = Math.max(lastVersion + 1, clock.now());
    const row = {
      ...rowOf(budget),
      changed_by: keyId,
      created_at: toStoreTextMs(listed?.createdAtMs.get(budget.id) ?? clock.now()),
      deleted: version === undefined ? 0 : 1,
      version: version ?? String(lastVersion),
    };
    await engine.insert("budgets", [row], { name: "budget_write" });
    ownWrites++;
  };
  return {
    of: async (project) => (await current()).byProject.get(project) ?? [],
    all: async () => (await current()).all,
    get writes() {
      return ownWrites;
    },
    put: (budget, keyId) => write(budget, keyId),
    remove: (budget, keyId) => write(budget, keyId, DELETED),
  };
}

function rowOf({ project, limit, window, onUnknownPrice, ...others }: Budget): Omit<Row, "created_at_ms"> {
  return {
    ...others,
    project_id: project,
    limit_usd: limit.usd === null ? null : decimalUsd(limit.usd),
    limit_tokens: limit.tokens,
    limit_requests: limit.requests,
    time_window: window,
    on_unknown_price: onUnknownPrice,
  };
}

function budgetOf(row: Row): Budget {
  const { project_id: project, limit_usd: usd, limit_tokens: tokens, limit_requests: requests } = row;
  return {
    id: row.id,
    project,
    name: row.name,
    scope: row.scope satisfies Scope,
    match: row.match,
    limit: { usd: usd === null ? null : parseUsd(usd), tokens, requests },
    window: row.time_window,
    timezone: row.timezone,
    onUnknownPrice: row.on_unknown_price,
    alerts: row.alerts,
  };
}
