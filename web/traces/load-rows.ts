import { ask, askLines, type Asking } from "../api/ask.ts";
import type { BodyOf, Call } from "../api/routes.ts";
import { NOTHING, totalOf, type Total } from "../numbers/usage.ts";
import { queryOf, type Sort, type TracesQuestion } from "./traces-question.ts";

export interface TraceRow {
  readonly call: Call;
  /** Undefined: not known yet. */
  readonly total: Total | undefined;
}

/** A row whose cost is known. */
export type AddedRow = TraceRow & { readonly total: Total };

/** Loads the totals that are missing. */
export async function addedRows(
  project: string,
  rows: readonly TraceRow[],
  asking: Asking,
): Promise<readonly AddedRow[]> {
  const unknown = rows.flatMap(({ call, total }) => (total === undefined ? [call.id] : []));
  const used = await loadUsed(project, unknown, asking);
  return rows.map(({ call, total }) => ({ call, total: total ?? used.get(call.id) ?? NOTHING }));
}

/** What calls used, with everything below them, by call id. */
export async function loadUsed(
  project_id: string,
  call_ids: readonly string[],
  asking: Asking,
): Promise<ReadonlyMap<string, Total>> {
  if (call_ids.length === 0) return new Map();
  const body = { project_id, call_ids, include_costs: true };
  const { body: answer } = await ask({ path: "/calls/usage", body }, asking);
  return new Map(call_ids.map((id) => [id, totalOf(answer.call_usage[id] ?? {})]));
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

/** The newest rows of a window, without waiting for any cost. */
export async function loadNewest(question: TracesQuestion, asking: Asking): Promise<readonly TraceRow[]> {
  const { project: project_id } = question;
  const query = queryOf(question);
  const body = { project_id, filter: { trace_roots_only: true }, query, sort_by: newestFirst };
  const calls = await readCalls(body, asking);
  return calls.map((call) => ({ call, total: undefined }));
}

/** The largest, or the newest, of those with known totals. */
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

async function readCalls(body: BodyOf<"/calls/stream_query">, asking: Asking): Promise<readonly Call[]> {
  const calls: Call[] = [];
  const full = { ...body, columns: COLUMNS, limit: MAX_ROWS };
  await askLines({ path: "/calls/stream_query", body: full }, (call) => calls.push(call), asking);
  return calls;
}

function largest(totals: ReadonlyMap<string, Total>, sort: Sort): readonly string[] {
  const size = ({ usd, tokens }: Total): number => (sort === "cost" ? (usd ?? -1) : tokens);
  const sorted = [...totals].toSorted(([, a], [, b]) => size(b) - size(a) || b.tokens - a.tokens);
  return sorted.slice(0, MAX_ROWS).map(([id]) => id);
}

function inOrderOf(ids: readonly string[], calls: readonly Call[]): readonly Call[] {
  const rank = new Map(ids.map((id, at) => [id, at]));
  return calls.toSorted((a, b) => (rank.get(a.id) ?? 0) - (rank.get(b.id) ?? 0));
}
