import { completionIdOf, isUniqueId } from "../../calls/events/completion.ts";
import { CONVERSATION_RANKS, REPORT_RANKS, type RequestReport } from "../../calls/events/request-report.ts";
import type { RecordedCompletion } from "./recorded-completion.ts";

/** Lists the requests that a completion reports: agents and SDKs may report them too, in other traces. */
export function reportsOf({
  opName,
  traceId,
  threadId,
  output,
  summary,
  attributes: { sumtree },
}: Omit<RecordedCompletion, "inputs">): readonly RequestReport[] {
  if (Object.keys(summary.usage).length === 0) return [];
  const completionId = completionIdOf(output);
  const ids = [
    sumtree.upstream_request_id,
    sumtree.client_request_id,
    isUniqueId(completionId) ? completionId : undefined,
  ];
  const rank = sumtree.usage === "estimated" ? REPORT_RANKS.estimate : REPORT_RANKS.gateway;
  // Codex names a conversation in its logs, and a trace in its spans, but no request
  const conversations = opName.startsWith("openai.responses.") ? [threadId, sumtree.agent_id, traceId] : [];
  return [
    ...ids.flatMap((request) => (request === undefined ? [] : [{ request, rank }])),
    ...conversations.flatMap((id) =>
      id === undefined ? [] : [{ request: `conversation:${id}`, rank: CONVERSATION_RANKS.gateway }],
    ),
  ];
}
