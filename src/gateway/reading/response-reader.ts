import { encodingIn } from "../decompress-body.ts";
import { Draft } from "../apis/draft.ts";
import type { ModelApi } from "../apis/model-api.ts";
import { isEventStream, type Headers } from "../relay/headers.ts";
import { EventReader } from "./event-reader.ts";
import { firstByte, ResponseCopy } from "./response-copy.ts";

export interface ReaderOptions {
  /** `undefined`: a response of any kind, which is not read. */
  readonly api: ModelApi | undefined;
  /** Reads a copy of what passes as it is; false: only streams are read. */
  readonly isCopied: boolean;
  readonly keepsContent: boolean;
  /** Removes the chunk with the usage that the gateway, not the client, requested. */
  readonly hidesUsage: boolean;
}

export interface ResponseEnd {
  /** Bytes left to send. */
  readonly rest: readonly Buffer[];
  /** The client gets a valid end of the response. */
  readonly isComplete: boolean;
  /** Set while the copy is still being decompressed. */
  readonly read: Promise<void> | undefined;
}

/** Reads a response while it passes: events whole, everything else as it comes. */
export class ResponseReader {
  readonly draft: Draft;
  readonly #api: ModelApi | undefined;
  readonly #copy: ResponseCopy | undefined;
  /** Set for what is labelled as a stream. */
  readonly #events: EventReader | undefined;
  /** Undefined until the first byte of what is labelled as a stream. */
  #isStream: boolean | undefined;

  constructor({ api, isCopied, keepsContent, hidesUsage }: ReaderOptions, headers: Headers) {
    const encoding = headers["content-encoding"];
    this.draft = new Draft(keepsContent);
    this.#api = api;
    this.#copy = api && isCopied ? new ResponseCopy(api, this.draft, encoding) : undefined;
    const isLabelled = encodingIn(encoding) === undefined && isEventStream(headers["content-type"]);
    if (isLabelled) this.#events = new EventReader(api, this.draft, hidesUsage);
    else this.#isStream = false;
  }

  /** A stream of events, which may end with an error event. */
  get isStream(): boolean {
    return this.#isStream !== false;
  }

  /** The client has received the last event: nothing that follows matters. */
  get isOver(): boolean {
    return this.#events?.isOver === true;
  }

  /** The client has received part of an event too large to hold. */
  get isInEvent(): boolean {
    return this.#events?.isInEvent === true;
  }

  /** All content has been relayed; usage is outstanding. */
  get awaitsUsage(): boolean {
    const { hasEnded, isCounted, failure } = this.draft;
    const isOutstanding = this.#api?.asksForUsage === true && hasEnded && !isCounted && failure === undefined;
    return this.#isStream === true && isOutstanding && !this.isOver;
  }

  /** A comment may be inserted: after an `id:`, it would make some SDKs read an event without data. */
  get takesComment(): boolean {
    return this.isStream && !this.isInEvent && this.#events?.usesIds === false && !this.isOver;
  }

  /** A stream that passes as it is, such as a compressed one, has ended without its last event. */
  get isCut(): boolean {
    return this.#copy?.isOfEvents === true && !this.draft.hasEnded;
  }

  /** Something of the response has been understood. */
  get isRead(): boolean {
    return this.#isStream === true || this.#copy?.isRead === true;
  }

  /** Length of a response that is not a stream, in bytes, decompressed if possible. */
  get bytes(): number {
    return this.#copy?.bytes ?? 0;
  }

  /** Reads a chunk; returns the bytes that can be sent now. */
  pass(chunk: Buffer): Buffer[] {
    this.#isStream ??= isStreamFrom(chunk);
    if (this.isStream) return this.#events!.push(chunk);
    this.#copy?.push(chunk);
    // white space before what is no stream
    return [...(this.#events?.takeHeld() ?? []), chunk];
  }

  /** Reads the end of the upstream's response. */
  end(): ResponseEnd {
    if (!this.isStream) {
      const read = this.#copy?.finish();
      const isCutList = read === undefined && this.#copy?.isList === true && this.isCut;
      return { rest: [], isComplete: !isCutList, read };
    }
    const events = this.#events!;
    const rest = events.end();
    const { hasFailed, hasEnded } = this.draft;
    const isComplete = this.#api === undefined || this.isOver || hasFailed || (!events.isTorn && hasEnded);
    return { rest, isComplete, read: undefined };
  }
}

function isStreamFrom(chunk: Buffer): boolean | undefined {
  const first = firstByte(chunk);
  return first === undefined ? undefined : first.form !== "object" && first.form !== "list";
}
