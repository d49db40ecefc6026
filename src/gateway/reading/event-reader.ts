import { createParser } from "eventsource-parser";
import { isJsonObject, isTooDeep, parseOrUndefined } from "../../shared/json.ts";
import { isUsageOnly } from "../apis/chat.ts";
import type { Draft, Json } from "../apis/draft.ts";
import { errorObjectOf, errorOfResponse } from "../apis/error-in-response.ts";
import type { ModelApi } from "../apis/model-api.ts";
import { errorFrame } from "../errors.ts";
import { BodyCopy } from "./body-copy.ts";
import { SseSplitter, type StreamChunk } from "./sse-splitter.ts";

/** Larger events are relayed in parts. */
const MAX_HELD_BYTES = 1024 * 1024;
const BLANK_LINE = Buffer.from("\n\n");

/** Reads the events of a stream into a draft. Events pass whole, so that an error never follows half an event. */
export class EventReader {
  readonly #api: ModelApi | undefined;
  readonly #draft: Draft;
  readonly #hidesUsage: boolean;
  readonly #splitter = new SseSplitter(MAX_HELD_BYTES);
  #large: BodyCopy | undefined;
  #data: string | undefined;
  /** The last event or the end marker has been read. */
  isOver = false;
  /** The stream ended within an event, which is left out. */
  isTorn = false;
  /** An event had an `id:`. */
  usesIds = false;
  readonly #parser = createParser({
    onEvent: ({ data }) => {
      this.#data = data;
    },
    onId: () => {
      this.usesIds = true;
    },
  });

  /** Without `api`, events are not read. `hidesUsage`: removes the event of a chat stream that has nothing but usage. */
  constructor(api: ModelApi | undefined, draft: Draft, hidesUsage: boolean) {
    this.#api = api;
    this.#draft = draft;
    this.#hidesUsage = hidesUsage;
  }

  /** Part of an event too large to hold has passed. */
  get isInEvent(): boolean {
    return this.#splitter.inOversizeEvent;
  }

  /** Reads a part of the stream; returns the bytes for the client. */
  push(chunk: Buffer): Buffer[] {
    return this.#splitter.push(chunk).flatMap((part) => this.#read(part) ?? []);
  }

  /** Reads the end of the stream; returns the bytes for the client. Its last event may lack the blank line. */
  end(): Buffer[] {
    const whole = !this.isInEvent;
    const [rest] = this.takeHeld();
    if (rest === undefined || this.#api === undefined) return rest === undefined ? [] : [rest];
    const bytes = Buffer.concat([rest, BLANK_LINE]);
    const data = whole ? this.#parse(bytes) : undefined;
    this.isTorn = data !== undefined && !isEndMarker(data) && readObject(data) === undefined;
    if (this.isTorn) return [];
    const passing = this.#read({ bytes, whole, ends: true });
    return passing === undefined ? [] : [passing === bytes ? rest : passing];
  }

  /** Returns the bytes held back. */
  takeHeld(): Buffer[] {
    const rest = this.#splitter.rest();
    return rest.length === 0 ? [] : [rest];
  }

  #read({ bytes, whole, ends }: StreamChunk): Buffer | undefined {
    if (this.#api === undefined) return bytes;
    if (whole) return this.#readData(bytes, this.#parse(bytes));
    this.#large ??= new BodyCopy();
    this.#large.push(bytes);
    if (!ends) return bytes;
    const large = this.#large;
    this.#large = undefined;
    if (large.isWhole) this.#readData(bytes, this.#parse(large.text()));
    else this.#fold(responseOf(large.facts(2)));
    if (!large.isWhole) this.#draft.isTruncated = true;
    return bytes;
  }

  #parse(text: Buffer | string): string | undefined {
    this.#data = undefined;
    this.#parser.feed(text.toString());
    return this.#data;
  }

  #readData(bytes: Buffer, data: string | undefined): Buffer | undefined {
    if (data === undefined) return bytes;
    if (isEndMarker(data)) {
      this.isOver = true;
      this.#draft.hasEnded = true;
      return bytes;
    }
    const event = readObject(data);
    if (event === undefined) return bytes;
    this.#fold(event);
    if (this.#api?.asksForUsage === undefined) return bytes;
    if (this.#hidesUsage && isUsageOnly(event)) return undefined;
    // vLLM's error format, which SDKs would read as a chunk
    const isFlatError = event["object"] === "error" && event["error"] == null;
    return isFlatError ? errorFrame(errorObjectOf(500, event)) : bytes;
  }

  #fold(event: Json | undefined): void {
    if (event === undefined || this.#api === undefined) return;
    foldEvent(this.#api, this.#draft, event, false);
    this.isOver ||= this.#api.isLast(event);
  }
}

/** Adds an event of a stream, or the whole body, and the error that it reports. */
export function foldEvent(api: ModelApi, draft: Draft, event: Json, isBody: boolean): void {
  const error = errorOfResponse(event);
  draft.failure ??= error;
  draft.hasFailed ||= error !== undefined;
  api.fold(draft, event, isBody);
  draft.hasEnded ||= draft.hasFailed;
}

/** Parses an event; `undefined` if it is no JSON object that can be read without limit of depth. */
export function readObject(json: string): Json | undefined {
  const value = parseOrUndefined(json);
  return isJsonObject(value) && !isTooDeep(value) ? value : undefined;
}

function isEndMarker(data: string): boolean {
  return data.trim() === "[DONE]";
}

/** The facts of a large event, also as those of the response in it. */
function responseOf(facts: Json | undefined): Json | undefined {
  if (facts === undefined) return undefined;
  const { type, ...response } = facts;
  const status = typeof type === "string" ? type.replace(/^response\./, "") : undefined;
  return { ...facts, response: { ...response, status } };
}
