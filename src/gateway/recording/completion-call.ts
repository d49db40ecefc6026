import { completePart, type CallPart } from "../../calls/parts/call-part.ts";
import type { RecordedCompletion } from "./recorded-completion.ts";

/** The op name of the gateway's completions: the one that SDK integrations use. */
const OP_NAME = "openai.chat.completions.create";

/** A recorded completion as a call, which is stored as every other call is. */
export function completionPart(completion: RecordedCompletion): CallPart {
  const { callId, traceId, parentId, inputs, attributes, output, summary, exception } = completion;
  return completePart(
    {
      id: callId,
      traceId,
      parentId,
      opName: OP_NAME,
      startedAt: completion.startedAtMs * 1000,
      displayName: null,
      threadId: null,
      turnId: null,
      userId: null,
      runId: null,
      runStep: null,
      inputs,
      attributes,
      apiKey: completion.apiKey,
      inclusive: false,
    },
    {
      id: callId,
      endedAt: completion.endedAtMs * 1000,
      output,
      summary,
      exception,
      reportedBy: attributes.sumtree.usage === "estimated" ? "estimate" : "gateway",
    },
  );
}
