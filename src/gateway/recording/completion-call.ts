import { completeEvent, endEvent, type CallEvent } from "../../calls/events/call-event.ts";
import { columnsOf, startMembers } from "../../calls/events/message-columns.ts";
import type { RecordedCompletion } from "./recorded-completion.ts";

/** Default for journal records of earlier versions, which lack `opName`. */
const CHAT_OP = "openai.chat.completions.create";

/** Converts a recorded completion to a call event. */
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
      usageSource: attributes.sumtree.usage === "estimated" ? "estimate" : "gateway",
    },
  );
}

/** Builds the end event of a call started by a background response. */
export function endOfResponse(completion: RecordedCompletion): CallEvent {
  const { callId: id, endedAtMs, output, summary, exception, attributes } = completion;
  const endedAt = (endedAtMs ?? completion.startedAtMs) * 1000;
  const usageSource = attributes.sumtree.usage === "estimated" ? "estimate" : "gateway";
  const event = endEvent({ id, endedAt, output, summary, exception, usageSource });
  return { ...event, columns: { ...event.columns, ...columnsOf(startMembers, { attributes }) } };
}
