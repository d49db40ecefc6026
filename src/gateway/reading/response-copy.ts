import { endOfValue } from "../../shared/json-members.ts";
import type { Draft, Json } from "../apis/draft.ts";
import type { ModelApi } from "../apis/model-api.ts";
import type { Headers } from "../relay/headers.ts";
import { BodyCopy } from "./body-copy.ts";
import { openDecoder, type Decoder } from "./decoder.ts";
import { EventReader } from "./event-reader.ts";
import { firstByte } from "./first-byte.ts";
import { foldEvent, readObject } from "./fold-event.ts";
import { SseSplitter } from "./sse-splitter.ts";

const MAX_HELD_BYTES = 1024 * 1024;

/**
 * Reads a copy of a response that passes unchanged: a body, or events that are compressed or have another media type. The
 * first byte determines the format, because headers may be wrong.
 */
export class ResponseCopy {
  readonly #api: ModelApi;
  readonly #draft: Draft;
  readonly #decoder: Decoder | undefined;
  #form: "unknown" | "object" | "list" | "events" | "other" = "unknown";
  #body = new BodyCopy();
  #stream: { readonly splitter: SseSplitter; readonly events: EventReader } | undefined;
  /** Length in bytes, decompressed if possible. */
  bytes = 0;
  /** The response was understood. */
  isRead = false;

  constructor(api: ModelApi, draft: Draft, contentEncoding: Headers[string]) {
    this.#api = api;
    this.#draft = draft;
    this.#decoder = openDecoder(contentEncoding, (plain) => this.#read(plain));
  }

  get isOfEvents(): boolean {
    return this.#form === "events" || this.isList;
  }

  /** A stream of Gemini's in the form of a list. */
  get isList(): boolean {
    return this.#form === "list" && this.#api.api === "gemini";
  }

  push(chunk: Buffer): void {
    if (this.#decoder === undefined) this.bytes += chunk.length;
    else this.#decoder.write(chunk);
  }

  /** Reads the rest; `undefined` if nothing is left to decompress. */
  finish(): Promise<void> | undefined {
    const decoded = this.#decoder?.end();
    if (decoded !== undefined) return decoded.then(() => this.#finish());
    this.#finish();
    return undefined;
  }

  #read(plain: Buffer): void {
    this.bytes += plain.length;
    const first = this.#form === "unknown" ? firstByte(plain) : { at: 0 };
    if (first === undefined) return;
    if ("form" in first) this.#form = first.form;
    const rest = plain.subarray(first.at);
    if (this.#form === "object" || this.#form === "list") this.#body.push(Buffer.from(rest));
    else if (this.#form === "events") this.#readEvents(rest);
  }

  #readEvents(bytes: Buffer): void {
    this.isRead = true;
    this.#stream ??= {
      splitter: new SseSplitter(MAX_HELD_BYTES),
      events: new EventReader(this.#api, this.#draft, false),
    };
    for (const part of this.#stream.splitter.push(bytes)) this.#stream.events.read(part);
  }

  #finish(): void {
    if (this.#form === "list" && this.#body.isWhole) return this.#foldList(this.#body.text());
    if (this.#stream !== undefined) {
      const { splitter, events } = this.#stream;
      const isWhole = !splitter.inOversizeEvent;
      const rest = splitter.rest();
      if (rest.length > 0) events.readLast(rest, isWhole);
    }
    if (this.#form !== "object" && this.#form !== "list") return;
    const event = this.#body.isWhole
      ? firstObjectIn(this.#body.text())
      : this.#body.facts(this.#form === "list" ? 2 : 1);
    this.#draft.isTruncated ||= !this.#body.isWhole;
    if (event === undefined) return;
    this.isRead = true;
    foldEvent(this.#api, this.#draft, event, this.#form === "object");
  }

  /** Reads a list of events, as far as it goes. */
  #foldList(text: string): void {
    for (let from = 1; from < text.length;) {
      const to = endOfValue(text, from);
      const event = readObject(text.slice(from, to));
      if (event === undefined) return;
      this.isRead = true;
      foldEvent(this.#api, this.#draft, event, false);
      from = to + 1;
    }
  }
}

/** Reads an object, though an end marker may follow it. */
function firstObjectIn(text: string): Json | undefined {
  return readObject(text) ?? readObject(text.slice(0, text.lastIndexOf("}") + 1));
}
