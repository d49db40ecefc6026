import { createParser } from "eventsource-parser";
import { assertNever } from "../../shared/assert-never.ts";
import { errorFrame, errorObjectOf } from "../error-envelope.ts";
import { SseSplitter } from "./sse-splitter.ts";
import { readStreamEvent, type StreamEvent } from "./stream-event.ts";

/** An event larger than this is let through in parts, unread. */
const MAX_HELD_BYTES = 1024 * 1024;
const END_MARKER = /^data: ?\[DONE\]\s*$/;

/** An event stream on its way to the client. */
export interface PassingStream {
  /** The end marker has passed: whatever follows is not for the client. */
  readonly done: boolean;
  /** The client knows how the stream ended. */
  readonly complete: boolean;
  /** The client has got the first part of an event that was too large to hold. */
  readonly inEvent: boolean;
  /** A comment may stand here. */
  readonly takesComment: boolean;
  /** What of the stream can go on to the client. */
  push(chunk: Buffer): Buffer[];
  /** What can go on when the upstream has ended. */
  finish(): Buffer[];
}

/** Any event stream, untouched. Only the event that has not ended is held back, in case it never does. */
export class UnreadStream implements PassingStream {
  readonly #splitter = new SseSplitter(MAX_HELD_BYTES);
  readonly done = false;
  /** Its protocol is not known, so an end in good order is an end. */
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
}

export interface ChatStreamOptions {
  /** Keeps the chunk that holds nothing but usage from the client: it did not ask for it, we did. */
  readonly hideUsage: boolean;
  /** Told every event, before it goes on; undefined when nobody needs to know what the stream says. */
  readonly onEvent: ((event: StreamEvent) => void) | undefined;
}

/**
 * A streamed completion on its way to the client: event by event, byte for byte. Two events do not pass as they
 * are: usage that we asked for, and the flat errors of vLLM, which SDKs would take for a chunk.
 */
export class ChatStream implements PassingStream {
  readonly #options: ChatStreamOptions;
  readonly #splitter = new SseSplitter(MAX_HELD_BYTES);
  readonly #read: StreamEvent[] = [];
  #done = false;
  #failed = false;
  #usesIds = false;
  readonly #parser = createParser({
    onEvent: ({ data }) => {
      this.#read.push(readStreamEvent(data, this.#options.onEvent !== undefined));
    },
    onId: () => {
      this.#usesIds = true;
    },
  });

  constructor(options: ChatStreamOptions) {
    this.#options = options;
  }

  get done(): boolean {
    return this.#done;
  }

  /** It has the end marker, or the upstream's own error. */
  get complete(): boolean {
    return this.#done || this.#failed;
  }

  get inEvent(): boolean {
    return this.#splitter.inOversizeEvent;
  }

  /** After an `id:` it would make some SDKs read an event without data. */
  get takesComment(): boolean {
    return !this.inEvent && !this.#usesIds && !this.#done;
  }

  push(chunk: Buffer): Buffer[] {
    const passed: Buffer[] = [];
    for (const { bytes, whole } of this.#splitter.push(chunk)) {
      if (this.#done) break;
      const passing = whole ? this.#pass(bytes) : bytes;
      if (passing !== undefined) passed.push(passing);
    }
    return passed;
  }

  /** An end marker whose blank line is missing, or nothing of use. */
  finish(): Buffer[] {
    const rest = this.#splitter.rest();
    if (this.#done || !END_MARKER.test(rest.toString("utf8"))) return [];
    this.#done = true;
    return [rest];
  }

  #pass(bytes: Buffer): Buffer | undefined {
    this.#parser.feed(bytes.toString("utf8"));
    const event = this.#read.pop();
    if (event === undefined) return bytes;
    this.#options.onEvent?.(event);
    switch (event.kind) {
      case "done":
        this.#done = true;
        return bytes;
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
