import { postJson, type ApiResponse, type RequestOptions } from "../api/client.ts";
import type { TraceList, TraceRow } from "../api/routes.ts";
import { csv } from "../format/csv.ts";
import { COUNTS } from "../format/usage.ts";
import { tracesQuestion, type TracesQuestion } from "./traces-question.ts";

const HEADER = [
  "started_at",
  "ended_at",
  "trace_id",
  "call_id",
  "op_name",
  "display_name",
  "user",
  "status",
  "calls",
  "failed_calls",
  "unfinished_calls",
  "latency_ms",
  "models",
  ...COUNTS,
  "other_cost_usd",
  "cost_usd",
  "cost_is_lower_bound",
  "failed_cost_usd",
  "exception",
];

export function csvOfTraces(rows: readonly TraceRow[]): string {
  return csv([
    HEADER,
    ...rows.map((row) => [
      row.started_at,
      row.ended_at,
      row.trace_id,
      row.call_id,
      row.op_name,
      row.display_name,
      row.svc_user_id,
      row.status,
      row.total.calls,
      row.total.errors,
      row.unfinished,
      row.latency_ms,
      row.models.join(" "),
      ...COUNTS.map((name) => row.total[name]),
      row.total.other_cost ?? null,
      row.total.total_cost ?? null,
      String((row.unpriced ?? []).length > 0),
      row.failed.total_cost ?? null,
      row.exception,
    ]),
  ]);
}

const PAGE = 500;

/** Every trace that matches, page by page. */
export async function allTraces(
  question: TracesQuestion,
  asking: RequestOptions,
  onRead: (count: number) => void,
): Promise<readonly TraceRow[]> {
  const rows: TraceRow[] = [];
  let page_token: string | null = null;
  do {
    const { body }: ApiResponse<TraceList> = await postJson(
      tracesQuestion(question, { limit: PAGE, page_token, include_total: false }),
      asking,
    );
    for (const row of body.traces) rows.push(row);
    page_token = body.next_page_token;
    onRead(rows.length);
  } while (page_token !== null);
  return rows;
}
