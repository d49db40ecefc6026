import { ask, askLines, type Asking, type Question } from "../api/ask.ts";
import type { Call, CallsQuery, TraceUsage, TraceUsageQuery } from "../api/routes.ts";
import { sumOf, totalOf, type Total } from "../numbers/usage.ts";
import type { TimeWindow } from "../state/time-window.ts";

export const SORTS = { newest: "newest", cost: "most expensive", tokens: "most tokens" } as const;
export type Sort = keyof typeof SORTS;

export interface TracesQuestion {
  readonly project: string;
  readonly window: TimeWindow;
  /** An operand of `$expr`. */
  readonly operand: unknown;
  readonly sort: Sort;
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
  readonly unfinished: number;
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
  const { project: project_id, sort } = question;
  const usage = ask<TraceUsage>(usageQuestion(question), asking);
  const newest = async (): Promise<readonly Call[]> =>
    callsOf({
      project_id,
      filter: { trace_roots_only: true },
      query: queryOf(question) as CallsQuery["query"] & object,
      sort_by: [{ field: "started_at", direction: "desc" }],
    });
  const callsOf = async (body: CallsQuery): Promise<readonly Call[]> => {
    const calls: Call[] = [];
    const full = { ...body, columns: COLUMNS, limit: MAX_ROWS };
    await askLines<Call>({ path: "/calls/stream_query", body: full }, (call) => calls.push(call), asking);
    return calls;
  };
  const [{ body, truncated }, first] = await Promise.all([usage, sort === "newest" ? newest() : undefined]);
  const totals = new Map(Object.entries(body.call_usage).map(([id, byLlm]) => [id, totalOf(byLlm)]));
  const ids = first === undefined ? largest(totals, sort) : [];
  const calls =
    first ??
    (ids.length === 0
      ? []
      : inOrderOf(
          ids,
          await callsOf({ project_id, filter: { call_ids: [...ids], trace_roots_only: true } }),
        ));
  const missing = calls.filter(({ id }) => !totals.has(id)).map(({ id }) => id);
  if (missing.length > 0) {
    const question = { path: "/calls/usage", body: { project_id, call_ids: missing, include_costs: true } };
    const more = await ask<TraceUsage>(question, asking);
    for (const [id, byLlm] of Object.entries(more.body.call_usage)) totals.set(id, totalOf(byLlm));
  }
  return {
    rows: calls.flatMap((call) => {
      const total = totals.get(call.id);
      return total === undefined ? [] : [{ call, total }];
    }),
    total: sumOf([...totals.values()]),
    count: totals.size,
    truncated,
    unfinished: body.unfinished_call_ids.length,
    unpriced: unpricedIn(body.call_usage),
  };
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

function unpricedIn(usage: TraceUsage["call_usage"]): LoadedTraces["unpriced"] {
  const tokens = new Map<string, number>();
  for (const byLlm of Object.values(usage)) {
    const { unpriced } = totalOf(byLlm);
    for (const llm of unpriced) tokens.set(llm, (tokens.get(llm) ?? 0) + (byLlm[llm]?.total_tokens ?? 0));
  }
  return [...tokens].toSorted(([, a], [, b]) => b - a);
}
