import type { ErrorObject } from "../error-envelope.ts";
import type { CaptureRule } from "./capture-rules.ts";
import type { StreamTransform } from "./chat-stream.ts";
import { EventReader } from "./event-reader.ts";
import { SseSplitter } from "./sse-splitter.ts";
import type { StreamEvent } from "./stream-event.ts";

/** Larger events pass in parts, unread. */
const MAX_HELD_BYTES = 1024 * 1024;
const BLANK_LINE = Buffer.from("\n\n");

export interface ApiStreamOptions {
  readonly rules: CaptureRule;
  /** `last`: nothing that counts comes after it. `enough`: the stream may end cleanly from here on. */
  readonly standing: (event: StreamEvent) => "last" | "enough" | undefined;
  readonly frame: (error: ErrorObject) => Buffer;
  /** Gets every event before it is relayed. */
  readonly onEvent: ((event: StreamEvent) => void) | undefined;
}

/** A stream of an API whose events are typed, on its way to the client: event by event, every byte as it came. */
export class ApiStream implements StreamTransform {
  readonly #options: ApiStreamOptions;
  readonly #splitter = new SseSplitter(MAX_HELD_BYTES);
  readonly #events: EventReader;
  readonly done = false;
  readonly holdsEnd = false;
  #materialized = false;
  #mayEnd = false;

  constructor(options: ApiStreamOptions) {
    this.#options = options;
    this.#events = new EventReader(options.rules);
  }

  get materialized(): boolean {
    return this.#materialized;
  }

  get complete(): boolean {
    return this.#materialized || this.#mayEnd;
  }

  get inEvent(): boolean {
    return this.#splitter.inOversizeEvent;
  }

  get takesComment(): boolean {
    return !this.inEvent && !this.#events.usesIds && !this.#materialized;
  }

  push(chunk: Buffer): Buffer[] {
    return this.#splitter.push(chunk).map((piece) => {
      this.#note(this.#events.read(piece));
      return piece.bytes;
    });
  }

  /** A last event without its blank line passes if it is whole. */
  finish(): Buffer[] {
    const rest = this.#splitter.rest();
    if (rest.length === 0) return [];
    const bytes = Buffer.concat([rest, BLANK_LINE]);
    const event = new EventReader(this.#options.rules).read({ bytes, whole: true, ends: true });
    const isTorn = event !== undefined && event.kind !== "done" && event.chunk === undefined;
    if (isTorn && !this.#materialized) {
      this.#mayEnd = false;
      return [];
    }
    this.#note(event);
    return [rest];
  }

  close(): void {
    const rest = this.#splitter.rest();
    if (rest.length === 0 || this.#materialized) return;
    const isUnsent = !this.inEvent;
    const event = this.#events.read({ bytes: rest, whole: false, ends: true });
    if (event?.chunk !== undefined) this.#options.onEvent?.({ ...event, isUnsent });
  }

  frame(error: ErrorObject): Buffer {
    return this.#options.frame(error);
  }

  #note(event: StreamEvent | undefined): void {
    if (event === undefined) return;
    this.#options.onEvent?.(event);
    const standing = this.#options.standing(event);
    if (standing === "last") this.#materialized = true;
    if (standing === "enough" || event.kind === "error" || event.kind === "flat_error") this.#mayEnd = true;
  }
}
