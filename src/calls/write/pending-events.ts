import { randomInt } from "node:crypto";
import type { Engine } from "../../store/engine.ts";
import { TableCache } from "../../store/table-cache.ts";
import { param, sql } from "../../query/sql.ts";
import { chunksOf } from "../../shared/chunks-of.ts";
import { toStoreText } from "../../shared/instant.ts";
import type { Project } from "../../shared/project.ts";
import { pendingColumns, type ProjectEvent } from "../events/call-event.ts";
import type { Columns } from "../events/message-columns.ts";
import { keyText, type CallKey } from "../storage-key/key-lookup.ts";

/** Event that waits for the start of its call, or did within the last day. */
export interface PendingEvent extends CallKey {
  readonly columns: Columns;
  /** Microseconds since the epoch, by the store's clock. */
  readonly storedAtUs: number;
  /** Order among those stored at once. */
  readonly position: number;
  /** True once written to its call. */
  readonly applied: boolean;
}

const IDS_PER_QUERY = 2000;
const MAX_CACHED = 10_000;
/** Positions begin at a random multiple of this, so that no two services store the same one. */
const MAX_AT_ONCE = 2 ** 20;

/** Stores what events write to their calls, in order; for starts, only what pending events may write too. */
export async function addPending(engine: Engine, events: readonly ProjectEvent[]): Promise<void> {
  const first = randomInt(2 ** 32) * MAX_AT_ONCE;
  const rows = events.flatMap(({ project, event }, index) => {
    const columns = JSON.stringify(pendingColumns(event));
    return columns === "{}" ? [] : [{ project_id: project, id: event.id, columns, position: first + index }];
  });
  await engine.insert("pending_call_events", rows, { name: "pending_call_events_add" });
}

/** Marks events as written to their calls. */
export async function markApplied(engine: Engine, events: readonly PendingEvent[]): Promise<void> {
  const rows = events.map(({ project, id, columns, storedAtUs, position }) => ({
    project_id: project,
    id,
    columns: JSON.stringify(columns),
    position,
    stored_at: toStoreText(storedAtUs),
    applied: 1,
  }));
  await engine.insert("pending_call_events", rows, { name: "pending_call_events_applied" });
}

/** Finds which calls have pending events, as `keyText`. */
export type FindWaiting = (keys: readonly CallKey[]) => Promise<ReadonlySet<string>>;

/** Creates the search. Most projects have no pending events and need no lookup per call; a single writer caches these. */
export function createPendingSearch(engine: Engine): FindWaiting {
  const without = new TableCache<true>(engine, "pending_call_events", MAX_CACHED);
  const hasPending = async (projects: readonly Project[]): Promise<boolean> => {
    const began = without.begin();
    const unknown = projects.filter((project) => without.get(project) === undefined);
    if (unknown.length === 0) return false;
    const rows = await engine.rows(
      sql`SELECT 1 AS one FROM pending_call_events WHERE project_id IN ${param("Array(String)", unknown)} LIMIT 1`,
      { name: "pending_call_events_any", limits: "ingest", synced: "pending_call_events" },
    );
    if (rows.length > 0) return true;
    without.put(
      began,
      0,
      unknown.map((project) => [project, true]),
    );
    return false;
  };
  return async (keys) => {
    if (!(await hasPending([...new Set(keys.map(({ project }) => project))]))) return new Set();
    const found = new Set<string>();
    for (const chunk of chunksOf(keys, IDS_PER_QUERY)) {
      const rows = await engine.rows<CallKey>(
        sql`SELECT DISTINCT project_id AS project, id FROM pending_call_events PREWHERE ${areOf(chunk)}`,
        { name: "pending_call_events_find", limits: "ingest", synced: "pending_call_events" },
      );
      for (const row of rows) found.add(keyText(row));
    }
    return found;
  };
}

/** Reads the pending events of calls, by `keyText`, in the order in which they were stored. */
export async function readPending(
  engine: Engine,
  keys: readonly CallKey[],
): Promise<ReadonlyMap<string, readonly PendingEvent[]>> {
  if (keys.length === 0) return new Map();
  const rows = await engine.rows<Omit<PendingEvent, "columns"> & { readonly columns: string }>(
    sql`SELECT project_id AS project, id, columns, toUnixTimestamp64Micro(stored_at) AS storedAtUs, position,
          CAST(applied, 'Bool') AS applied
        FROM pending_call_events FINAL PREWHERE ${areOf(keys)} ORDER BY stored_at, position`,
    { name: "pending_call_events_read", limits: "ingest", synced: "pending_call_events" },
  );
  return Map.groupBy(
    rows.map((row): PendingEvent => ({ ...row, columns: JSON.parse(row.columns) as Columns })),
    keyText,
  );
}

/** SQL condition; also matches calls of the other projects with the same ids. */
function areOf(keys: readonly CallKey[]) {
  const projects = [...new Set(keys.map((key) => key.project))];
  const ids = keys.map((key) => key.id);
  return sql`project_id IN ${param("Array(String)", projects)} AND id IN ${param("Array(String)", ids)}`;
}
