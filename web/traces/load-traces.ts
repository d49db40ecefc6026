import { ask, askLines, type Asking, type Question } from "../api/ask.ts";
import type { Call, CallsQuery, TraceUsage, TraceUsageQuery } from "../api/routes.ts";
import { sumOf, totalOf, type Total } from "../numbers/usage.ts";
import type { TimeWindow } from "../state/time-window.ts";
import { isWanted, type CostFilter } from "./cost-filter.ts";

export const SORTS = { newest: "newest", cost: "most expensive", tokens: "most tokens" } as const;
export type Sort = keyof typeof SORTS;

export interface TracesQuestion {
  readonly project: string;
  readonly window: TimeWindow;
  /** An operand of `$expr`. */
  readonly operand: unknown;
  readonly sort: Sort;
  /** Of the traces' totals. */
  readonly cost: CostFilter | undefined;
}

export interface TraceRow {
  readonly call: Call;
  readonly total: Total;
}

export interface LoadedTraces {
  readonly rows: readonly TraceRow[];
  /** Of all traces of the window, shown or not. */
  readonly total: Total;
  readonly count: number;
  /** The window has more traces than are counted. */
  readonly truncated: boolean;
  /** Calls that have not ended; undefined where traces are left out by their cost: it is not said whose they are. */
  readonly unfinished: number | undefined;
  /** Models without a price, and their tokens. */
  readonly unpriced: readonly (readonly [llm: string, tokens: number])[];
}

const MAX_COUNTED = 10_000;
export const MAX_ROWS = 500;
const COLUMNS = [
  "id",
  "trace_id",
  "op_name",
  "display_name",
  "started_at",
  "ended_at",
  "exception",
  "wb_user_id",
];

export function queryOf({ window, operand }: TracesQuestion): { $expr: { $and: unknown[] } } {
  const at = (ms: number) => [{ $getField: "started_at" }, { $literal: new Date(ms).toISOString() }];
  const conditions: unknown[] = [{ $gte: at(window.fromMs) }];
  if (window.toMs !== undefined) conditions.push({ $lt: at(window.toMs) });
  if (operand !== undefined) conditions.push(operand);
  return { $expr: { $and: conditions } };
}

/** What every trace of the window cost. */
export function usageQuestion(question: TracesQuestion): Question {
  const body = {
    project_id: question.project,
    filter: { trace_roots_only: true },
    query: queryOf(question) as TraceUsageQuery["query"] & object,
    include_costs: true,
    limit: MAX_COUNTED,
  } satisfies TraceUsageQuery;
  return { path: "/trace/usage", body };
}

export async function loadTraces(question: TracesQuestion, asking: Asking): Promise<LoadedTraces> {
  const [{ body, truncated }, newest] = await Promise.all([
    ask<TraceUsage>(usageQuestion(question), asking),
    question.sort === "newest" && question.cost === undefined ? newestOf(question, asking) : undefined,
  ]);
  const all = Object.entries(body.call_usage).map(([id, byLlm]) => [id, totalOf(byLlm)] as const);
  const totals = new Map(all.filter(([, total]) => isWanted(question.cost, total)));
  const sum = sumOf([...totals.values()]);
  const [count, unpriced] = [totals.size, unpricedIn(body.call_usage, totals)];
  const calls = newest ?? (await callsOf(totals, question, asking));
  await addMissing(calls, totals, { project_id: question.project, asking });
  return {
    rows: calls.flatMap((call) => {
      const total = totals.get(call.id);
      return total === undefined ? [] : [{ call, total }];
    }),
    total: sum,
    count,
    truncated,
    unfinished: question.cost === undefined ? body.unfinished_call_ids.length : undefined,
    unpriced,
  };
}

const newestFirst = [{ field: "started_at", direction: "desc" as const }];

function newestOf(question: TracesQuestion, asking: Asking): Promise<readonly Call[]> {
  const body = {
    project_id: question.project,
    filter: { trace_roots_only: true },
    query: queryOf(question) as CallsQuery["query"] & object,
    sort_by: newestFirst,
  };
  return readRows(body, asking);
}

/** The rows of what was counted already: the largest, or the newest. */
async function callsOf(
  totals: ReadonlyMap<string, Total>,
  { project: project_id, sort }: TracesQuestion,
  asking: Asking,
): Promise<readonly Call[]> {
  const ids = sort === "newest" ? [...totals.keys()] : largest(totals, sort);
  if (ids.length === 0) return [];
  const filter = { call_ids: [...ids], trace_roots_only: true };
  const calls = await readRows({ project_id, filter, sort_by: newestFirst }, asking);
  return sort === "newest" ? calls : inOrderOf(ids, calls);
}

async function readRows(body: CallsQuery, asking: Asking): Promise<readonly Call[]> {
  const calls: Call[] = [];
  const full = { ...body, columns: COLUMNS, limit: MAX_ROWS };
  await askLines<Call>({ path: "/calls/stream_query", body: full }, (call) => calls.push(call), asking);
  return calls;
}

/** The newest are not among the totals where those are of the oldest alone. */
async function addMissing(
  calls: readonly Call[],
  totals: Map<string, Total>,
  { project_id, asking }: { readonly project_id: string; readonly asking: Asking },
): Promise<void> {
  const missing = calls.filter(({ id }) => !totals.has(id)).map(({ id }) => id);
  if (missing.length === 0) return;
  const question = { path: "/calls/usage", body: { project_id, call_ids: missing, include_costs: true } };
  const { body } = await ask<TraceUsage>(question, asking);
  for (const [id, byLlm] of Object.entries(body.call_usage)) totals.set(id, totalOf(byLlm));
}

function largest(totals: ReadonlyMap<string, Total>, sort: Sort): readonly string[] {
  const size = ({ usd, tokens }: Total): number => (sort === "cost" ? (usd ?? -1) : tokens);
  const sorted = [...totals].toSorted(([, a], [, b]) => size(b) - size(a) || b.tokens - a.tokens);
  return sorted.slice(0, MAX_ROWS).map(([id]) => id);
}

function inOrderOf(ids: readonly string[], calls: readonly Call[]): readonly Call[] {
  const place = new Map(ids.map((id, at) => [id, at]));
  return calls.toSorted((a, b) => (place.get(a.id) ?? 0) - (place.get(b.id) ?? 0));
}

function unpricedIn(
  usage: TraceUsage["call_usage"],
  totals: ReadonlyMap<string, Total>,
): LoadedTraces["unpriced"] {
  const tokens = new Map<string, number>();
  for (const [id, { unpriced }] of totals) {
    const byLlm = usage[id] ?? {};
    for (const llm of unpriced) tokens.set(llm, (tokens.get(llm) ?? 0) + (byLlm[llm]?.total_tokens ?? 0));
  }
  return [...tokens].toSorted(([, a], [, b]) => b - a);
}
