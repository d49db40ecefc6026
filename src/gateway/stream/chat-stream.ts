import { assertNever } from "../../shared/assert-never.ts";
import { errorFrame, errorObjectOf, type ErrorObject } from "../error-envelope.ts";
import { ChoiceTracker } from "./choice-tracker.ts";
import { EventReader } from "./event-reader.ts";
import { SseSplitter, type StreamChunk } from "./sse-splitter.ts";
import type { StreamEvent } from "./stream-event.ts";
import { usageIn } from "./usage-in.ts";

/** Larger events pass in parts, unread. */
const MAX_HELD_BYTES = 1024 * 1024;
const BLANK_LINE = Buffer.from("\n\n");

/** An event stream on its way to the client. */
export interface StreamTransform {
  /** The end marker has passed: nothing after it is relayed. */
  readonly done: boolean;
  /** The last event that counts has passed. What the upstream sends after it is relayed, but no longer matters. */
  readonly materialized: boolean;
  /** The client has seen how the stream ended. */
  readonly complete: boolean;
  /** The client has received part of an event that was too large to hold. */
  readonly inEvent: boolean;
  /** The end marker has come, and waits for usage that may come behind it; `finish` releases it. */
  readonly holdsEnd: boolean;
  /** All of its content has passed, and its usage is still to come. */
  readonly awaitsUsage?: boolean;
  /** A comment may be inserted here. */
  readonly takesComment: boolean;
  /** The part of the stream that can be sent now. */
  push(chunk: Buffer): Buffer[];
  /** The rest that can be sent after the upstream's end. */
  finish(): Buffer[];
  /** The stream breaks off here. */
  close(): void;
  /** An error event in the form that the stream's clients read. */
  frame(error: ErrorObject): Buffer;
}

/** Any event stream, unchanged. It only holds an unfinished event back, in case it never ends. */
export class OpaqueStream implements StreamTransform {
  readonly #splitter = new SseSplitter(MAX_HELD_BYTES);
  readonly done = false;
  readonly materialized = false;
  readonly holdsEnd = false;
  readonly frame = errorFrame;
  /** The protocol is unknown, so any clean end is complete. */
  readonly complete = true;
  readonly takesComment = false;

  get inEvent(): boolean {
    return this.#splitter.inOversizeEvent;
  }

  push(chunk: Buffer): Buffer[] {
    return this.#splitter.push(chunk).map(({ bytes }) => bytes);
  }

  finish(): Buffer[] {
    const rest = this.#splitter.rest();
    return rest.length === 0 ? [] : [rest];
  }

  close(): void {
    this.#splitter.rest();
  }
}

export interface ChatStreamOptions {
  /** Removes the chunk that only contains usage: we asked for it, the client did not. */
  readonly hideUsage: boolean;
  /** Gets every event before it is relayed. */
  readonly onEvent: ((event: StreamEvent) => void) | undefined;
}

/**
 * A streamed completion on its way to the client: event by event, byte for byte. Two kinds of events do not pass
 * unchanged: usage that we asked for, and the flat errors of vLLM, which SDKs would read as a chunk.
 */
export class ChatStream implements StreamTransform {
  readonly #options: ChatStreamOptions;
  readonly #splitter = new SseSplitter(MAX_HELD_BYTES);
  readonly #events = new EventReader();
  readonly #ends = new ChoiceTracker();
  readonly frame = errorFrame;
  #done = false;
  #hasUsage = false;
  #heldEnd: Buffer | undefined;
  #failed = false;
  #torn = false;

  constructor(options: ChatStreamOptions) {
    this.#options = options;
  }

  get done(): boolean {
    return this.#done;
  }

  get materialized(): boolean {
    return this.#done;
  }

  /** Complete: it has the end marker, the upstream's own error, or (some servers never send the marker) an end of all choices. */
  get complete(): boolean {
    return this.#done || this.holdsEnd || this.#failed || (!this.#torn && this.#ends.all);
  }

  get holdsEnd(): boolean {
    return this.#heldEnd !== undefined;
  }

  /** Only for whoever listens. */
  get awaitsUsage(): boolean {
    const isOver = this.#hasUsage || this.#failed || this.#done || this.holdsEnd;
    return this.#options.onEvent !== undefined && this.#ends.all && !isOver;
  }

  get inEvent(): boolean {
    return this.#splitter.inOversizeEvent;
  }

  /** After an `id:`, a comment would make some SDKs read an event without data. */
  get takesComment(): boolean {
    return !this.inEvent && !this.#events.usesIds && !this.#done && !this.holdsEnd;
  }

  push(chunk: Buffer): Buffer[] {
    const passed: Buffer[] = [];
    for (const piece of this.#splitter.push(chunk)) {
      if (this.#done) break;
      const passing = this.#pass(piece);
      if (passing !== undefined) passed.push(passing);
    }
    return passed;
  }

  /** A last event without its blank line, or nothing useful. */
  finish(): Buffer[] {
    const rest = this.#splitter.rest();
    if (this.#done) return [];
    const bytes = Buffer.concat([rest, BLANK_LINE]);
    const event = rest.length === 0 ? undefined : new EventReader().read({ bytes, whole: true, ends: true });
    if (this.#heldEnd !== undefined) {
      if (event?.chunk !== undefined) this.#options.onEvent?.(event);
      return [this.#releaseEnd(this.#heldEnd)];
    }
    if (event === undefined) return rest.length === 0 ? [] : [rest];
    if (event.kind !== "done" && event.chunk === undefined) {
      this.#torn = true;
      this.#readTorn(rest);
      return [];
    }
    const passing = this.#passEvent(event, rest);
    if (this.#heldEnd !== undefined) return [this.#releaseEnd(this.#heldEnd)];
    return passing === undefined ? [] : [passing];
  }

  close(): void {
    const rest = this.#splitter.rest();
    if (!this.#done) this.#readTorn(rest);
  }

  #readTorn(rest: Buffer): void {
    const isUnsent = !this.inEvent;
    const event = this.#events.read({ bytes: rest, whole: false, ends: true });
    if (event?.chunk !== undefined) this.#options.onEvent?.({ ...event, isUnsent });
  }

  #pass(piece: StreamChunk): Buffer | undefined {
    const isBehindEnd = this.holdsEnd;
    const event = this.#events.read(piece);
    if (event === undefined) return isBehindEnd ? undefined : piece.bytes;
    const passing = this.#passEvent(event, piece.bytes);
    // the rest of a large event has passed already
    return piece.whole || isBehindEnd ? passing : piece.bytes;
  }

  #releaseEnd(end: Buffer): Buffer {
    this.#heldEnd = undefined;
    this.#done = true;
    return end;
  }

  #passEvent(event: StreamEvent, bytes: Buffer): Buffer | undefined {
    this.#options.onEvent?.(event);
    this.#hasUsage ||= event.chunk !== undefined && usageIn(event.chunk) !== undefined;
    if (this.#heldEnd !== undefined) return this.#hasUsage ? this.#releaseEnd(this.#heldEnd) : undefined;
    this.#ends.read(event.chunk?.["choices"]);
    switch (event.kind) {
      case "done":
        if (this.#hasUsage || this.#options.onEvent === undefined) return this.#releaseEnd(bytes);
        this.#heldEnd = bytes;
        return undefined;
      case "error":
        this.#failed = true;
        return bytes;
      case "flat_error":
        this.#failed = true;
        return errorFrame(errorObjectOf(500, event.chunk ?? {}));
      case "usage_only":
        return this.#options.hideUsage ? undefined : bytes;
      case "other":
        return bytes;
      default:
        return assertNever(event.kind);
    }
  }
}
