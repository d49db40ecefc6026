import { isJsonObject } from "../../shared/json.ts";
import { parseOrUndefined } from "../parse-or-undefined.ts";
import { errorOfChoice, errorOfResponse } from "./error-in-response.ts";

type Json = Readonly<Record<string, unknown>>;

export type StreamEventKind = "done" | "error" | "flat_error" | "usage_only" | "other";

/** Event of a stream, or a whole non-streamed response. */
export interface StreamEvent {
  /** `error` and `flat_error` concern the whole response. */
  readonly kind: StreamEventKind;
  /** Parsed data; `undefined` if it is not a JSON object. */
  readonly chunk: Json | undefined;
  /** Error message of the response or of a choice. */
  readonly error: string | undefined;
  /** Text bytes that were not captured. */
  readonly droppedTextBytes: number;
  /** Content was dropped because of its size. */
  readonly isPartial: boolean;
  /** A whole non-streamed response. */
  readonly isBody: boolean;
  /** The stream was cut within the event and the client got none of it: its text does not count. */
  readonly isUnsent: boolean;
}

/** Captured event data, and what was dropped. */
export interface EventData {
  readonly json: string;
  readonly droppedTextBytes: number;
  readonly isPartial: boolean;
}

export function readStreamEvent(data: string): StreamEvent {
  return readEventData(complete(data));
}

/** Parses a non-streamed response; `undefined` if it is not a JSON object. */
export function readBody(text: string): StreamEvent | undefined {
  const event = readEventData(complete(text), true);
  return event.chunk === undefined ? undefined : event;
}

function complete(json: string): EventData {
  return { json, droppedTextBytes: 0, isPartial: false };
}

/** Parses event data. `isBody`: a non-streamed response. */
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
    // vLLM's error format, which SDKs would read as a chunk
    const kind = chunk["object"] === "error" && chunk["error"] == null ? "flat_error" : "error";
    return { kind, chunk, error };
  }
  const ofChoice = hasChoices ? choices.map(errorOfChoice).find((error) => error !== undefined) : undefined;
  const kind = !hasChoices && isJsonObject(usage) ? "usage_only" : "other";
  return { kind, chunk, error: ofChoice };
}
