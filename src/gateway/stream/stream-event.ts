import { isJsonObject } from "../../shared/json.ts";
import { parseOrUndefined } from "../parse-or-undefined.ts";

type Json = Readonly<Record<string, unknown>>;

export type StreamEventKind = "done" | "error" | "flat_error" | "usage_only" | "other";

/** One event of a chat stream. */
export interface StreamEvent {
  readonly kind: StreamEventKind;
  /** The chunk; undefined if the data is not a JSON object. */
  readonly chunk: Json | undefined;
  /** Bytes of the chunk's text that were not kept. */
  readonly droppedTextBytes: number;
}

export function readStreamEvent(data: string, droppedTextBytes = 0): StreamEvent {
  if (data.trim() === "[DONE]") return { kind: "done", chunk: undefined, droppedTextBytes };
  const chunk = parseOrUndefined(data);
  return isJsonObject(chunk)
    ? { kind: kindOf(chunk), chunk, droppedTextBytes }
    : { kind: "other", chunk: undefined, droppedTextBytes };
}

/** The content of a chunk, or of the body of a completion that is not streamed. */
export function kindOf(chunk: Json): Exclude<StreamEventKind, "done"> {
  const { choices, usage, error } = chunk;
  const hasChoices = Array.isArray(choices) && choices.length > 0;
  if (!hasChoices && (isJsonObject(error) || (typeof error === "string" && error !== ""))) return "error";
  // vLLM's form of errors, which SDKs would read as a chunk
  if (chunk["object"] === "error") return "flat_error";
  return Array.isArray(choices) && choices.length === 0 && isJsonObject(usage) ? "usage_only" : "other";
}
