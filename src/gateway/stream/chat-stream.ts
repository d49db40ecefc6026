import { assertNever } from "../../shared/assert-never.ts";
import { errorFrame, errorObjectOf, type ErrorObject } from "../error-envelope.ts";
import { ChoiceTracker } from "./choice-tracker.ts";
import { EventReader } from "./event-reader.ts";
import { SseSplitter, type StreamChunk } from "./sse-splitter.ts";
import type { StreamEvent } from "./stream-event.ts";
import { usageIn } from "./usage-in.ts";

/** Larger events are relayed in parts, unread. */
const MAX_HELD_BYTES = 1024 * 1024;
const BLANK_LINE = Buffer.from("\n\n");

/** Transform of an event stream for the client. */
export interface StreamTransform {
  /** The end marker was relayed: nothing after it is relayed. */
  readonly done: boolean;
  /** The last relevant event was relayed. Later bytes are relayed, but do not matter. */
  readonly reachedEnd: boolean;
  /** The client has received a valid end of the stream. */
  readonly complete: boolean;
  /** The client has received part of an event too large to hold. */
  readonly inEvent: boolean;
  /** The end marker is held back for usage that may follow it; `finish` releases it. */
  readonly holdsEnd: boolean;
  /** All content has been relayed; usage is outstanding. */
  readonly awaitsUsage?: boolean;
  /** A comment may be inserted here. */
  readonly takesComment: boolean;
  /** Returns the bytes that can be sent now. */
  push(chunk: Buffer): Buffer[];
  /** Returns the rest to send after the upstream's end. */
  finish(): Buffer[];
  /** Handles an aborted stream. */
  close(): void;
  /** Formats an error event for clients of the stream. */
  frame(error: ErrorObject): Buffer;
}

/** Transform of any event stream: unchanged, but holds back an incomplete event in case it never ends. */
export class OpaqueStream implements StreamTransform {
  readonly #splitter = new SseSplitter(MAX_HELD_BYTES);
  readonly done = false;
  readonly reachedEnd = false;
  readonly holdsEnd = false;
  readonly frame = errorFrame;
  /** Any clean end is complete, because the protocol is unknown. */
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
  /** Removes the usage-only chunk that the gateway, not the client, requested. */
  readonly hideUsage: boolean;
  /** Called for every event before it is relayed. */
  readonly onEvent: ((event: StreamEvent) => void) | undefined;
}

/**
 * Transform of a streamed chat completion, byte for byte except: requested usage is removed, and flat errors of vLLM, which
 * SDKs would read as a chunk, are wrapped.
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

  get reachedEnd(): boolean {
    return this.#done;
  }

  /** True after the end marker, an upstream error, or the end of all choices (some servers never send the marker). */
  get complete(): boolean {
    return this.#done || this.holdsEnd || this.#failed || (!this.#torn && this.#ends.all);
  }

  get holdsEnd(): boolean {
    return this.#heldEnd !== undefined;
  }

  /** True if all choices ended without usage, and there is a listener. */
  get awaitsUsage(): boolean {
    const isOver = this.#hasUsage || this.#failed || this.#done || this.holdsEnd;
    return this.#options.onEvent !== undefined && this.#ends.all && !isOver;
  }

  get inEvent(): boolean {
    return this.#splitter.inOversizeEvent;
  }

  /** False after an `id:`, because a comment would make some SDKs read an event without data. */
  get takesComment(): boolean {
    return !this.inEvent && !this.#events.usesIds && !this.#done && !this.holdsEnd;
  }

  push(chunk: Buffer): Buffer[] {
    const passed: Buffer[] = [];
    for (const part of this.#splitter.push(chunk)) {
      if (this.#done) break;
      const passing = this.#pass(part);
      if (passing !== undefined) passed.push(passing);
    }
    return passed;
  }

  /** Returns a final event without blank line, if useful. */
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

  #pass(part: StreamChunk): Buffer | undefined {
    const isBehindEnd = this.holdsEnd;
    const event = this.#events.read(part);
    if (event === undefined) return isBehindEnd ? undefined : part.bytes;
    const passing = this.#passEvent(event, part.bytes);
    // the rest of a large event was relayed already
    return part.whole || isBehindEnd ? passing : part.bytes;
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
