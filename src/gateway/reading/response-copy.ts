import { endOfValue } from "../../shared/json-members.ts";
import type { Draft, Json } from "../apis/draft.ts";
import type { ModelApi } from "../apis/model-api.ts";
import type { Headers } from "../relay/headers.ts";
import { BodyCopy } from "./body-copy.ts";
import { openDecoder, type Decoder } from "./decoder.ts";
import { EventReader, foldEvent, readObject } from "./event-reader.ts";

/** Format of a response: a JSON object or list, an event stream, or another one. */
type Form = "object" | "list" | "events" | "other";

/**
 * Reads a copy of a response that passes unchanged: a body, or events that are compressed or have another media type. The
 * first byte determines the format, because headers may be wrong.
 */
export class ResponseCopy {
  readonly #api: ModelApi;
  readonly #draft: Draft;
  readonly #decoder: Decoder | undefined;
  readonly #body = new BodyCopy();
  #form: Form | undefined;
  #events: EventReader | undefined;
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
    const first = this.#form === undefined ? firstByte(plain) : { form: this.#form, at: 0 };
    if (first === undefined) return;
    this.#form = first.form;
    const rest = plain.subarray(first.at);
    if (this.#form === "object" || this.#form === "list") this.#body.push(Buffer.from(rest));
    if (this.#form !== "events") return;
    this.isRead = true;
    this.#events ??= new EventReader(this.#api, this.#draft, false);
    this.#events.push(rest);
  }

  #finish(): void {
    this.#events?.end();
    if (this.#form !== "object" && this.#form !== "list") return;
    if (this.#form === "list" && this.#body.isWhole) return this.#foldList(this.#body.text());
    const event = this.#body.isWhole
      ? firstObjectIn(this.#body.text())
      : this.#body.facts(this.#form === "list" ? 2 : 1);
    this.#draft.isTruncated ||= !this.#body.isWhole;
    if (event !== undefined) this.#fold(event, this.#form === "object");
  }

  /** Reads a list of events, as far as it goes. */
  #foldList(text: string): void {
    for (let from = 1; from < text.length;) {
      const to = endOfValue(text, from);
      const event = readObject(text.slice(from, to));
      if (event === undefined) return;
      this.#fold(event, false);
      from = to + 1;
    }
  }

  #fold(event: Json, isBody: boolean): void {
    this.isRead = true;
    foldEvent(this.#api, this.#draft, event, isBody);
  }
}

/** Reads an object, though an end marker may follow it. */
function firstObjectIn(text: string): Json | undefined {
  return readObject(text) ?? readObject(text.slice(0, text.lastIndexOf("}") + 1));
}

/** First letters of `data`, `event`, `id`, `retry` and comments. */
const OF_EVENTS = "deir:";

/** Finds the first byte that is neither white space nor byte order mark; `undefined` if there is none yet. */
export function firstByte(bytes: Buffer): { readonly form: Form; readonly at: number } | undefined {
  const at = bytes.findIndex((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
  if (at === -1) return undefined;
  const first = String.fromCharCode(bytes[at]!);
  if (first === "{" || first === "[") return { form: first === "{" ? "object" : "list", at };
  return { form: OF_EVENTS.includes(first) ? "events" : "other", at };
}
