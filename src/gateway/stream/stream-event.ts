import { isJsonObject } from "../../shared/json.ts";
import { parseOrUndefined } from "../parse-or-undefined.ts";
import { errorOfChoice, errorOfResponse } from "./error-in-response.ts";

type Json = Readonly<Record<string, unknown>>;

export type StreamEventKind = "done" | "error" | "flat_error" | "usage_only" | "other";

/** One event of a chat stream, or a whole response that is not one. */
export interface StreamEvent {
  /** An error is one of the whole response. */
  readonly kind: StreamEventKind;
  /** The chunk; undefined if the data is not a JSON object. */
  readonly chunk: Json | undefined;
  /** The message of an error of the response or of a choice. */
  readonly error: string | undefined;
  /** Bytes of the chunk's text that were not kept. */
  readonly droppedTextBytes: number;
  /** Something that belongs to the answer was not kept, because it was too large. */
  readonly isPart: boolean;
  /** A whole response that is not a stream. */
  readonly isBody: boolean;
  /** The stream was cut within it, and the client has nothing of it: its text does not count. */
  readonly isUnsent: boolean;
}

/** The data of an event, and what of it was not kept. */
export interface EventData {
  readonly json: string;
  readonly droppedTextBytes: number;
  readonly isPart: boolean;
}

export function readStreamEvent(data: string): StreamEvent {
  return readEventData(complete(data));
}

/** A response that is not a stream; undefined if it is not a JSON object. */
export function readBody(text: string): StreamEvent | undefined {
  const event = readEventData(complete(text), true);
  return event.chunk === undefined ? undefined : event;
}

function complete(json: string): EventData {
  return { json, droppedTextBytes: 0, isPart: false };
}

/** `isBody`: it is not an event, but a response that is not a stream. */
export function readEventData({ json, ...dropped }: EventData, isBody = false): StreamEvent {
  const facts = { ...dropped, isBody, isUnsent: false };
  const nothing = { chunk: undefined, error: undefined, ...facts };
  if (json.trim() === "[DONE]") return { kind: "done", ...nothing };
  const chunk = parseOrUndefined(json);
  return isJsonObject(chunk) ? { ...read(chunk), ...facts } : { kind: "other", ...nothing };
}

function read(chunk: Json): Pick<StreamEvent, "kind" | "chunk" | "error"> {
  const { choices, usage } = chunk;
  const error = errorOfResponse(chunk);
  const hasChoices = Array.isArray(choices) && choices.length > 0;
  if (error !== undefined) {
    // vLLM's form of errors, which SDKs would read as a chunk
    const kind = chunk["object"] === "error" && chunk["error"] == null ? "flat_error" : "error";
    return { kind, chunk, error };
  }
  const ofChoice = hasChoices ? choices.map(errorOfChoice).find((error) => error !== undefined) : undefined;
  const kind = !hasChoices && isJsonObject(usage) ? "usage_only" : "other";
  return { kind, chunk, error: ofChoice };
}
