import { csv } from "../numbers/csv.ts";
import type { AddedRow } from "./load-rows.ts";

export function csvOfTraces(rows: readonly AddedRow[]): string {
  const header = [
    "started_at",
    "ended_at",
    "trace_id",
    "call_id",
    "op_name",
    "display_name",
    "user",
    "requests",
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "cost_usd",
    "models_without_price",
    "exception",
  ];
  return csv([
    header,
    ...rows.map(({ call, total }) => [
      call.started_at,
      call.ended_at,
      call.trace_id,
      call.id,
      call.op_name,
      call.display_name,
      call.wb_user_id,
      total.requests,
      total.promptTokens,
      total.completionTokens,
      total.tokens,
      total.usd,
      total.unpriced.join(" "),
      call.exception,
    ]),
  ]);
}
