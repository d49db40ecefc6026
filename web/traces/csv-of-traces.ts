import { postJson, type ApiResponse, type RequestOptions } from "../api/client.ts";
import type { TraceList, TraceRow } from "../api/routes.ts";
import { csv } from "../format/csv.ts";
import { localTime } from "../format/local-time.ts";
import { tracesQuestion, type TracesQuestion } from "./traces-question.ts";

const ROOT = [
  "started_at",
  "ended_at",
  "id",
  "op_name",
  "display_name",
  "svc_user_id",
  "thread_id",
  "exception",
  "input_preview",
  "output_preview",
] as const;
const NUMBERS = [
  "calls",
  "failed",
  "unfinished",
  "latency_ms",
  "total_tokens",
  "total_cost",
  "wasted_cost",
] as const;

const LISTS = ["partial", "models", "feedback"] as const;

/** With the local start of each root. */
export function csvOfTraces(rows: readonly TraceRow[], zone: string): string {
  return csv([
    [`started (${zone})`, "trace_id", ...NUMBERS, ...LISTS, ...ROOT.map((name) => `root_${name}`)],
    ...rows.map((row) => [
      row.root === null ? null : localTime(Date.parse(row.root.started_at), zone),
      row.trace_id,
      ...NUMBERS.map((name) => row[name]),
      String(row.partial),
      row.models.join(" "),
      row.feedback.length === 0 ? "" : JSON.stringify(row.feedback),
      ...ROOT.map((name) => row.root?.[name] ?? null),
    ]),
  ]);
}

const PAGE = 500;
/** Rows held in the memory of a browser tab. */
const MAX_ROWS = 100_000;

/** Traces that match, page by page, until there are `most`, and how many match when the last page was read. */
export async function allTraces(
  question: TracesQuestion,
  asking: RequestOptions,
  onRead: (count: number) => void,
  most = MAX_ROWS,
): Promise<{ readonly rows: readonly TraceRow[]; readonly total: number }> {
  const rows: TraceRow[] = [];
  let total = 0;
  let page_token: string | null = null;
  do {
    const { body }: ApiResponse<TraceList> = await postJson(
      tracesQuestion(question, { limit: PAGE, page_token }),
      asking,
    );
    for (const row of body.traces) rows.push(row);
    page_token = body.next_page_token;
    total = body.total.traces;
    onRead(rows.length);
  } while (page_token !== null && rows.length < most);
  return { rows, total: page_token === null ? rows.length : total };
}
