import { isJsonObject } from "../../shared/json.ts";
import { parseOrUndefined } from "../parse-or-undefined.ts";

type Json = Readonly<Record<string, unknown>>;

export type StreamEventKind = "done" | "error" | "flat_error" | "usage_only" | "other";

/** One event of a chat stream. */
export interface StreamEvent {
  readonly kind: StreamEventKind;
  /** The chunk; undefined when the data is no JSON object. */
  readonly chunk: Json | undefined;
  /** Bytes of text that the chunk had beyond what is in it here. */
  readonly droppedTextBytes: number;
}

export function readStreamEvent(data: string, droppedTextBytes = 0): StreamEvent {
  if (data.trim() === "[DONE]") return { kind: "done", chunk: undefined, droppedTextBytes };
  const chunk = parseOrUndefined(data);
  return isJsonObject(chunk)
    ? { kind: kindOf(chunk), chunk, droppedTextBytes }
    : { kind: "other", chunk: undefined, droppedTextBytes };
}

/** What a chunk, or the body of a completion that is not streamed, says. */
export function kindOf(chunk: Json): Exclude<StreamEventKind, "done"> {
  const { choices, usage, error } = chunk;
  const hasChoices = Array.isArray(choices) && choices.length > 0;
  if (!hasChoices && (isJsonObject(error) || (typeof error === "string" && error !== ""))) return "error";
  // the way vLLM writes errors, which SDKs take for a chunk
  if (chunk["object"] === "error") return "flat_error";
  return Array.isArray(choices) && choices.length === 0 && isJsonObject(usage) ? "usage_only" : "other";
}
