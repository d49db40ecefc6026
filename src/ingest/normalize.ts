import { randomUUID } from "node:crypto";
import {
  completeEvent,
  endEvent,
  startEvent,
  type CallEnd,
  type CallEvent,
  type CallStart,
} from "../calls/events/call-event.ts";
import { reportsInclusiveUsage } from "../calls/events/weave-producer.ts";
import type { CompleteMessage, EndMessage, StartMessage } from "./schema.ts";

/** Converts a start message to a call event. `apiKey`: id of the API key that sent it. */
export function fromStart(message: StartMessage, apiKey: string): CallEvent {
  return startEvent(toStart(message, apiKey));
}

export function fromEnd(message: EndMessage): CallEvent {
  return endEvent(toEnd(message));
}

export function fromComplete(message: CompleteMessage, apiKey: string): CallEvent {
  return completeEvent(toStart(message, apiKey), toEnd(message));
}

function toStart(message: StartMessage, apiKey: string): CallStart {
  const { attributes } = message;
  return {
    id: message.id ?? randomUUID(),
    traceId: message.trace_id || undefined,
    parentId: message.parent_id,
    opName: message.op_name,
    startedAt: message.started_at,
    displayName: message.display_name,
    threadId: message.thread_id,
    turnId: message.turn_id,
    userId: message.wb_user_id,
    runId: message.wb_run_id,
    runStep: message.wb_run_step,
    inputs: message.inputs,
    attributes,
    apiKey,
    inclusive: attributes === undefined ? undefined : reportsInclusiveUsage(attributes) && "per_llm",
  };
}

function toEnd(
  message: Omit<EndMessage, "ended_at" | "project_id"> & { ended_at?: number | null | undefined },
): CallEnd {
  return {
    id: message.id,
    endedAt: message.ended_at,
    displayName: message.display_name,
    output: message.output,
    summary: message.summary,
    exception: message.exception,
  };
}
