import type { ErrorObject } from "../error-envelope.ts";
import type { CaptureRule } from "./capture-rules.ts";
import type { StreamTransform } from "./chat-stream.ts";
import { EventReader } from "./event-reader.ts";
import { SseSplitter } from "./sse-splitter.ts";
import type { StreamEvent } from "./stream-event.ts";

/** Larger events are relayed in parts, unread. */
const MAX_HELD_BYTES = 1024 * 1024;
const BLANK_LINE = Buffer.from("\n\n");

export interface ApiStreamOptions {
  readonly rules: CaptureRule;
  /** `last`: no relevant event follows. `enough`: the stream may end cleanly from here. */
  readonly endState: (event: StreamEvent) => "last" | "enough" | undefined;
  readonly frame: (error: ErrorObject) => Buffer;
  /** Called for every event before it is relayed. */
  readonly onEvent: ((event: StreamEvent) => void) | undefined;
}

/** Transform of a stream with typed events: relays event by event, every byte unchanged. */
export class ApiStream implements StreamTransform {
  readonly #options: ApiStreamOptions;
  readonly #splitter = new SseSplitter(MAX_HELD_BYTES);
  readonly #events: EventReader;
  readonly done = false;
  readonly holdsEnd = false;
  #reachedEnd = false;
  #mayEnd = false;

  constructor(options: ApiStreamOptions) {
    this.#options = options;
    this.#events = new EventReader(options.rules);
  }

  get reachedEnd(): boolean {
    return this.#reachedEnd;
  }

  get complete(): boolean {
    return this.#reachedEnd || this.#mayEnd;
  }

  get inEvent(): boolean {
    return this.#splitter.inOversizeEvent;
  }

  get takesComment(): boolean {
    return !this.inEvent && !this.#events.usesIds && !this.#reachedEnd;
  }

  push(chunk: Buffer): Buffer[] {
    return this.#splitter.push(chunk).map((part) => {
      this.#track(this.#events.read(part));
      return part.bytes;
    });
  }

  /** Relays a final event without blank line if it is complete. */
  finish(): Buffer[] {
    const rest = this.#splitter.rest();
    if (rest.length === 0) return [];
    const bytes = Buffer.concat([rest, BLANK_LINE]);
    const event = new EventReader(this.#options.rules).read({ bytes, whole: true, ends: true });
    const isTorn = event !== undefined && event.kind !== "done" && event.chunk === undefined;
    if (isTorn && !this.#reachedEnd) {
      this.#mayEnd = false;
      return [];
    }
    this.#track(event);
    return [rest];
  }

  close(): void {
    const rest = this.#splitter.rest();
    if (rest.length === 0 || this.#reachedEnd) return;
    const isUnsent = !this.inEvent;
    const event = this.#events.read({ bytes: rest, whole: false, ends: true });
    if (event?.chunk !== undefined) this.#options.onEvent?.({ ...event, isUnsent });
  }

  frame(error: ErrorObject): Buffer {
    return this.#options.frame(error);
  }

  #track(event: StreamEvent | undefined): void {
    if (event === undefined) return;
    this.#options.onEvent?.(event);
    const endState = this.#options.endState(event);
    if (endState === "last") this.#reachedEnd = true;
    if (endState === "enough" || event.kind === "error" || event.kind === "flat_error") this.#mayEnd = true;
  }
}
