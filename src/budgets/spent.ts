import { openZone } from "../buckets/zone.ts";
import type { TimeWindow } from "../buckets/buckets.ts";
import { attodollars } from "../prices/money.ts";
import { isJsonObject, parseJson } from "../shared/json.ts";
import type { Project } from "../shared/project.ts";
import { planDimensions } from "../stats/plan/dimensions.ts";
import { planStats } from "../stats/plan/plan-stats.ts";
import { sumCalls, type StatsDeps } from "../stats/sum-calls.ts";
import type { StatsFold } from "../stats/sums/stats-fold.ts";
import { COUNT_MEMBERS, TOTAL_COST_SLOT } from "../usage-rollup/total-members.ts";
import { UNPRICED_SLOT } from "../usage-rollup/sums.ts";
import { NOTHING, plus, type Amounts, type Scope } from "./budget.ts";
import { isModelOf, undated } from "./model-name.ts";

/** Recorded usage. */
export interface Spent extends Amounts {
  /** Requests without a known price, whose dollars count as 0. */
  readonly unpricedRequests: number;
}

export const NOTHING_SPENT: Spent = { ...NOTHING, unpricedRequests: 0 };

export interface SpentQuery {
  readonly project: Project;
  readonly scope: Scope;
  readonly window: TimeWindow;
}

/** Reads what is spent, as `POST /usage/stats` does. Errors: `StorageError`; too_many_calls. */
export interface SpentReader {
  /** Sums one value of the scope; null for the project. */
  of(query: SpentQuery, value: string | null): Promise<Spent>;
  /** Sums each value; leaves out calls without one. Snapshots of a model count as the model. */
  byValue(query: SpentQuery): Promise<ReadonlyMap<string, Spent>>;
}

const TOKENS_SLOT = COUNT_MEMBERS.indexOf("total_tokens");
const REQUESTS_SLOT = COUNT_MEMBERS.indexOf("requests");
/** The largest bucket of `/usage/stats`. */
const CENTURY_SECONDS = 3_155_760_000;
const UTC = { name: "UTC", zone: openZone("UTC")! };
/** Filters that find the calls of a value by an index. */
const FILTERS: Readonly<Partial<Record<Scope, "svc_user_ids" | "thread_ids" | "trace_ids">>> = {
  svc_user_id: "svc_user_ids",
  thread_id: "thread_ids",
  trace_id: "trace_ids",
};

/** Sums between the bounds of windows. */
interface Summed {
  readonly fold: StatsFold;
  readonly startsUs: readonly number[];
}

type Subject = Omit<SpentQuery, "window"> & { readonly value: string | null };

export function createSpentReader(deps: StatsDeps, nowMs: () => number): SpentReader {
  const sum = async ({ project, scope, value }: Subject, windows: readonly TimeWindow[]): Promise<Summed> => {
    const filter = value === null ? undefined : FILTERS[scope];
    const { dimensions } = planDimensions(scope === "project" ? [] : [scope]);
    const endUs = Math.max(...windows.map((window) => window.endUs));
    const bounds = new Set(windows.flatMap((window) => [window.startUs, window.endUs]));
    const startsUs = [...bounds].filter((at) => at < endUs).sort((one, other) => one - other);
    const request = {
      project_id: project,
      start: startsUs[0]!,
      end: endUs,
      granularity: CENTURY_SECONDS,
      timezone: UTC,
      of: "calls",
      filter: filter === undefined ? undefined : { [filter]: [value!] },
      group_by: dimensions,
      include_costs: true,
      limit: 1,
    } as const;
    const { signal } = new AbortController();
    const planned = planStats(request, nowMs());
    const plan = { ...planned, buckets: { ...planned.buckets, startsUs } };
    return { fold: await sumCalls(deps, { project, request, plan, nowMs: nowMs(), signal }), startsUs };
  };
  const sumTogether = inOneReading(sum);
  return {
    async of({ window, ...query }, value) {
      const summed = await sumTogether({ ...query, value }, window);
      const isOwn = (found: string | null): boolean =>
        query.scope === "project" ||
        (found !== null && (query.scope === "llm" ? isModelOf(value!, found) : found === value));
      return [...rowsOf(summed, query.scope, window)]
        .filter(({ value: found }) => isOwn(found))
        .reduce((all, { spent }) => together(all, spent), NOTHING_SPENT);
    },
    async byValue({ window, ...query }) {
      const byValue = new Map<string, Spent>();
      const summed = await sum({ ...query, value: null }, [window]);
      for (const { value: found, spent } of rowsOf(summed, query.scope, window)) {
        if (found === null) continue;
        const value = query.scope === "llm" ? undated(found) : found;
        byValue.set(value, together(byValue.get(value) ?? NOTHING_SPENT, spent));
      }
      return byValue;
    },
  };
}

/** Reads the windows of a subject that are asked for at the same moment together: most of the work is the same. */
function inOneReading<Sums>(
  read: (subject: Subject, windows: readonly TimeWindow[]) => Promise<Sums>,
): (subject: Subject, window: TimeWindow) => Promise<Sums> {
  const waiting = new Map<string, { readonly windows: TimeWindow[]; readonly sums: Promise<Sums> }>();
  return (subject, window) => {
    const key = JSON.stringify([subject.project, subject.scope, subject.value]);
    const known = waiting.get(key);
    known?.windows.push(window);
    if (known !== undefined) return known.sums;
    const windows = [window];
    const sums = Promise.resolve().then(() => {
      waiting.delete(key);
      return read(subject, windows);
    });
    waiting.set(key, { windows, sums });
    return sums;
  };
}

function* rowsOf(
  { fold, startsUs }: Summed,
  scope: Scope,
  window: TimeWindow,
): Generator<{ value: string | null; spent: Spent }> {
  const values = fold.groups.keys.map((key) => valueIn(key, scope));
  for (let row = 0; row < fold.sums.length; row++) {
    const startUs = startsUs[fold.bucketOf[row]!]!;
    if (startUs >= window.startUs && startUs < window.endUs)
      yield { value: values[fold.groupOf[row]!] ?? null, spent: spentIn(fold, row) };
  }
}

/** Reads the value of the scope in the key of a group. */
function valueIn(key: string, scope: Scope): string | null {
  const members = parseJson(key);
  const value = isJsonObject(members) ? members[scope] : null;
  return typeof value === "string" ? value : null;
}

function spentIn({ sums }: StatsFold, row: number): Spent {
  const { usd } = sums.moneyOf(row, TOTAL_COST_SLOT);
  return {
    usd: usd === null ? 0n : attodollars(usd),
    tokens: sums.countOf(row, TOKENS_SLOT),
    requests: sums.countOf(row, REQUESTS_SLOT),
    unpricedRequests: sums.countOf(row, UNPRICED_SLOT),
  };
}

function together(one: Spent, other: Spent): Spent {
  return { ...plus(one, other), unpricedRequests: one.unpricedRequests + other.unpricedRequests };
}
