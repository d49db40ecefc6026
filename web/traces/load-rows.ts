import { ask, askLines, type Asking } from "../api/ask.ts";
import type { Call, CallsQuery, TraceUsage } from "../api/routes.ts";
import { totalOf, type Total } from "../numbers/usage.ts";
import { queryOf, type Sort, type TracesQuestion } from "./traces-question.ts";

export interface TraceRow {
  readonly call: Call;
  /** Undefined: it is not known yet. */
  readonly total: Total | undefined;
}

/** A row whose cost is known. */
export type AddedRow = TraceRow & { readonly total: Total };

/** Undefined where it is not known of one of them. */
export function addedRows(rows: readonly TraceRow[] | undefined): readonly AddedRow[] | undefined {
  const added = rows?.flatMap(({ call, total }) => (total === undefined ? [] : [{ call, total }]));
  return added?.length === rows?.length ? added : undefined;
}

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
const newestFirst = [{ field: "started_at", direction: "desc" as const }];

/** The newest of a window: they do not wait for what all of it costs. `show`: takes them before it is known what they cost themselves. */
export async function loadNewest(
  question: TracesQuestion,
  asking: Asking,
  show: (rows: readonly TraceRow[]) => void,
): Promise<readonly TraceRow[]> {
  const { project: project_id } = question;
  const query = queryOf(question) as CallsQuery["query"] & object;
  const body = { project_id, filter: { trace_roots_only: true }, query, sort_by: newestFirst };
  const calls = await readCalls(body, asking);
  if (calls.length === 0) return [];
  show(calls.map((call) => ({ call, total: undefined })));
  const call_ids = calls.map(({ id }) => id);
  const usage = { path: "/calls/usage", body: { project_id, call_ids, include_costs: true } };
  const { body: answer } = await ask<TraceUsage>(usage, asking);
  return calls.map((call) => ({ call, total: totalOf(answer.call_usage[call.id] ?? {}) }));
}

/** Of those whose totals are known the largest, or the newest. */
export async function loadChosen(
  byRoot: ReadonlyMap<string, Total>,
  { project: project_id, sort }: Pick<TracesQuestion, "project" | "sort">,
  asking: Asking,
): Promise<readonly TraceRow[]> {
  const ids = sort === "newest" ? [...byRoot.keys()] : largest(byRoot, sort);
  if (ids.length === 0) return [];
  const filter = { call_ids: [...ids], trace_roots_only: true };
  const calls = await readCalls({ project_id, filter, sort_by: newestFirst }, asking);
  const inOrder = sort === "newest" ? calls : inOrderOf(ids, calls);
  return inOrder.flatMap((call) => {
    const total = byRoot.get(call.id);
    return total === undefined ? [] : [{ call, total }];
  });
}

async function readCalls(body: CallsQuery, asking: Asking): Promise<readonly Call[]> {
  const calls: Call[] = [];
  const full = { ...body, columns: COLUMNS, limit: MAX_ROWS };
  await askLines<Call>({ path: "/calls/stream_query", body: full }, (call) => calls.push(call), asking);
  return calls;
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
