import { createParser } from "eventsource-parser";
import { isUsageOnly } from "../apis/chat.ts";
import type { Draft, Json } from "../apis/draft.ts";
import type { ModelApi } from "../apis/model-api.ts";
import { errorFrame } from "../errors.ts";
import { errorObjectOf } from "../apis/error-in-response.ts";
import { BodyCopy } from "./body-copy.ts";
import { foldEvent, readObject } from "./fold-event.ts";
import type { StreamChunk } from "./sse-splitter.ts";

const BLANK_LINE = Buffer.from("\n\n");

/** Reads the events of a stream into a draft. */
export class EventReader {
  readonly #api: ModelApi;
  readonly #draft: Draft;
  readonly #hidesUsage: boolean;
  #large: BodyCopy | undefined;
  #data: string | undefined;
  /** The last event or the end marker has been read. */
  isOver = false;
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

  constructor(api: ModelApi, draft: Draft, hidesUsage: boolean) {
    this.#api = api;
    this.#draft = draft;
    this.#hidesUsage = hidesUsage;
  }

  /** Reads the next part of the stream; returns the bytes for the client. */
  read({ bytes, whole, ends }: StreamChunk): Buffer | undefined {
    if (whole) return this.#readData(bytes, this.#parse(bytes.toString("utf8")));
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

  /** Reads the last event, without its blank line. */
  readLast(
    rest: Buffer,
    isWhole: boolean,
  ): { readonly passing: Buffer | undefined; readonly isTorn: boolean } {
    const bytes = Buffer.concat([rest, BLANK_LINE]);
    const data = isWhole ? this.#parse(bytes.toString("utf8")) : undefined;
    const isTorn = data !== undefined && data.trim() !== "[DONE]" && readObject(data) === undefined;
    if (isTorn) return { passing: undefined, isTorn };
    const passing = this.read({ bytes, whole: isWhole, ends: true });
    return { passing: passing === bytes ? rest : passing, isTorn };
  }

  #parse(text: string): string | undefined {
    this.#data = undefined;
    this.#parser.feed(text);
    return this.#data;
  }

  #readData(bytes: Buffer, data: string | undefined): Buffer | undefined {
    if (data === undefined) return bytes;
    if (data.trim() === "[DONE]") {
      this.isOver = true;
      this.#draft.hasEnded = true;
      return bytes;
    }
    const event = readObject(data);
    if (event === undefined) return bytes;
    this.#fold(event);
    if (this.#api.asksForUsage === undefined) return bytes;
    if (this.#hidesUsage && isUsageOnly(event)) return undefined;
    // vLLM's error format, which SDKs would read as a chunk
    const isFlatError = event["object"] === "error" && event["error"] == null;
    return isFlatError ? errorFrame(errorObjectOf(500, event)) : bytes;
  }

  #fold(event: Json | undefined): void {
    if (event === undefined) return;
    foldEvent(this.#api, this.#draft, event, false);
    this.isOver ||= this.#api.isLast(event);
  }
}

/** The facts of a large event, also as those of the response in it. */
function responseOf(facts: Json | undefined): Json | undefined {
  if (facts === undefined) return undefined;
  const { type, ...response } = facts;
  const status = typeof type === "string" ? type.replace(/^response\./, "") : undefined;
  return { ...facts, response: { ...response, status } };
}
