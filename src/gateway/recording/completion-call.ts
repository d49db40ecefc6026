import { completeEvent, endEvent, type CallEvent } from "../../calls/events/call-event.ts";
import { columnsOf, startMembers } from "../../calls/events/message-columns.ts";
import type { RecordedCompletion } from "./recorded-completion.ts";

/** Of records in a journal of an earlier version, which name none. */
const CHAT_OP = "openai.chat.completions.create";

/** A recorded completion as a call, which is stored as every other call is. */
export function completionEvent(completion: RecordedCompletion): CallEvent {
  const { callId, traceId, parentId, inputs, attributes, output, summary, exception } = completion;
  return completeEvent(
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
export function endOfResponse(completion: RecordedCompletion): CallEvent {
  const { callId: id, endedAtMs, output, summary, exception, attributes } = completion;
  const endedAt = (endedAtMs ?? completion.startedAtMs) * 1000;
  const event = endEvent({ id, endedAt, output, summary, exception, reportedBy: "gateway" });
  return { ...event, columns: { ...event.columns, ...columnsOf(startMembers, { attributes }) } };
}
