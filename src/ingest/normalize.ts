import {
  completePart,
  endPart,
  startPart,
  type CallEnd,
  type CallPart,
  type CallStart,
} from "../calls/call-part.ts";
import { addsChildrenItself } from "../calls/weave-producer.ts";
import type { CompleteMessage, EndMessage, StartMessage } from "./schema.ts";

/** Ids for what a client left open. */
export interface NewIds {
  readonly id: string;
  readonly traceId: string;
}

export function fromStart(message: StartMessage, fresh: NewIds): CallPart {
  return startPart(toStart(message, fresh));
}

export function fromEnd(message: EndMessage): CallPart {
  return endPart(toEnd(message, message.ended_at));
}

export function fromComplete(message: CompleteMessage): CallPart {
  const start = toStart(message, { id: message.id, traceId: message.trace_id });
  return message.ended_at == null ? startPart(start) : completePart(start, toEnd(message, message.ended_at));
}

function toStart(message: StartMessage, fresh: NewIds): CallStart {
  return {
    id: message.id ?? fresh.id,
    traceId: message.trace_id ?? fresh.traceId,
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
    attributes: message.attributes,
    inclusive: addsChildrenItself(message.attributes) && "per_llm",
  };
}

function toEnd(message: Omit<EndMessage, "ended_at">, endedAt: number): CallEnd {
  return {
    id: message.id,
    endedAt,
    displayName: message.display_name,
    output: message.output,
    summary: message.summary,
    exception: message.exception,
  };
}
