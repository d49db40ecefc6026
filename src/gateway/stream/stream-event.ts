import { isJsonObject } from "../../shared/json.ts";
import { parseOrUndefined } from "../parse-or-undefined.ts";

export type StreamEventKind = "done" | "error" | "flat_error" | "usage_only" | "other";

/** One event of a chat stream, as far as somebody has to know what it says. */
export interface StreamEvent {
  readonly kind: StreamEventKind;
  /** The chunk; only when `parse` was asked for, or the event is an error. */
  readonly chunk: Readonly<Record<string, unknown>> | undefined;
}

const OTHER: StreamEvent = { kind: "other", chunk: undefined };

/** Reads an event's data. Without `parse`, only what ends a stream is looked for: the marker and errors. */
export function readStreamEvent(data: string, parse: boolean): StreamEvent {
  if (data.trim() === "[DONE]") return { kind: "done", chunk: undefined };
  if (!parse && !data.includes('"error"')) return OTHER;
  const chunk = parseOrUndefined(data);
  return isJsonObject(chunk) ? { kind: kindOf(chunk), chunk } : OTHER;
}

function kindOf(chunk: Readonly<Record<string, unknown>>): StreamEventKind {
  if (isJsonObject(chunk["error"])) return "error";
  // the way vLLM writes errors, which SDKs take for a chunk
  if (chunk["object"] === "error") return "flat_error";
  const { choices, usage } = chunk;
  return Array.isArray(choices) && choices.length === 0 && isJsonObject(usage) ? "usage_only" : "other";
}
