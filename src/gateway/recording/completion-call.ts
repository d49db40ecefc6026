import { completePart, endPart, type CallPart } from "../../calls/parts/call-part.ts";
import { columnsOf, startMembers } from "../../calls/parts/message-columns.ts";
import type { RecordedCompletion } from "./recorded-completion.ts";

/** Of records in a journal of an earlier version, which name none. */
const CHAT_OP = "openai.chat.completions.create";

/** A recorded completion as a call, which is stored as every other call is. */
export function completionPart(completion: RecordedCompletion): CallPart {
  const { callId, traceId, parentId, inputs, attributes, output, summary, exception } = completion;
  return completePart(
    {
      id: callId,
      traceId,
      parentId,
      opName: completion.opName ?? CHAT_OP,
      startedAt: completion.startedAtMs * 1000,
      displayName: null,
      threadId: completion.threadId ?? null,
      turnId: null,
      userId: completion.userId ?? null,
      runId: null,
      runStep: null,
      inputs,
      attributes,
      apiKey: completion.apiKey,
      inclusive: false,
    },
    {
      id: callId,
      output,
      ...(completion.endedAtMs === null ? {} : { endedAt: completion.endedAtMs * 1000, summary, exception }),
      reportedBy: attributes.sumtree.usage === "estimated" ? "estimate" : "gateway",
    },
  );
}

/** The end of a call that has begun as a response of the Responses API. */
export function endOfResponse(completion: RecordedCompletion): CallPart {
  const { callId: id, endedAtMs, output, summary, exception, attributes } = completion;
  const endedAt = (endedAtMs ?? completion.startedAtMs) * 1000;
  const part = endPart({ id, endedAt, output, summary, exception, reportedBy: "gateway" });
  return { ...part, columns: { ...part.columns, ...columnsOf(startMembers, { attributes }) } };
}
