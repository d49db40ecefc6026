import type { CaptureRule } from "../stream/capture-rules.ts";
import { JsonProjector } from "../stream/json-projector.ts";
import { EventReader } from "../stream/event-reader.ts";
import { firstByte, isObject } from "../stream/first-byte.ts";
import { SseSplitter } from "../stream/sse-splitter.ts";
import { readBody, readEventData, type StreamEvent } from "../stream/stream-event.ts";
import { encodingsOf, openDecoder, type ResponseDecoder } from "./response-decoder.ts";

/** Responses and events up to this length are parsed at once. */
const MAX_HELD_BYTES = 64 * 1024;

/** Incremental reader of a response. */
interface Reader {
  push(plain: Buffer): void;
  finish(): void;
}

/**
 * Reads a copy of an unchanged response: a non-streamed completion, or events with an encoding or another media type. The
 * first byte determines the format, because headers may be wrong.
 */
export class ResponseTap {
  readonly #rules: CaptureRule;
  readonly #onEvent: (event: StreamEvent) => void;
  readonly #decoder: ResponseDecoder | undefined;
  #reader: Reader | undefined;
  #bytes = 0;

  /** Passes every event, or the whole response as one, to `onEvent`. */
  constructor(
    contentEncoding: string | undefined,
    rules: CaptureRule,
    onEvent: (event: StreamEvent) => void,
  ) {
    this.#rules = rules;
    this.#onEvent = onEvent;
    this.#decoder = openDecoder(encodingsOf(contentEncoding), (plain) => this.#read(plain));
  }

  /** Length in bytes, decompressed if possible. */
  get bytes(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    if (this.#decoder === undefined) this.#bytes += chunk.length;
    else this.#decoder.write(chunk);
  }

  /** Resolves when the response has been read; `undefined` if it already was (uncompressed). */
  finish(): Promise<void> | undefined {
    const decoded = this.#decoder?.end();
    if (decoded !== undefined) return decoded.then(() => this.#reader?.finish());
    this.#reader?.finish();
    return undefined;
  }

  #read(plain: Buffer): void {
    this.#bytes += plain.length;
    if (this.#reader !== undefined) return this.#reader.push(plain);
    const first = firstByte(plain);
    if (first === undefined) return;
    this.#reader = readerOf(first.byte, this.#rules, this.#onEvent);
    this.#reader.push(plain.subarray(first.at));
  }
}

function readerOf(first: number, rules: CaptureRule, onEvent: (event: StreamEvent) => void): Reader {
  if (isObject(first)) return jsonReader(rules, onEvent);
  // first letters of "data", "event", "id", "retry" and comments
  return "deir:".includes(String.fromCharCode(first)) ? eventReader(rules, onEvent) : nothing;
}

const nothing: Reader = { push: () => undefined, finish: () => undefined };

function jsonReader(rules: CaptureRule, onEvent: (event: StreamEvent) => void): Reader {
  const projector = new JsonProjector(rules);
  // parsing a small response at once takes a tenth of the time
  let held: Buffer[] | undefined = [];
  let heldBytes = 0;
  const flush = (): void => {
    for (const part of held ?? []) projector.push(part);
    held = undefined;
  };
  return {
    push(plain) {
      if (held === undefined) return projector.push(plain);
      held.push(plain);
      heldBytes += plain.length;
      return heldBytes > MAX_HELD_BYTES ? flush() : undefined;
    },
    finish() {
      const whole = held && readBody(Buffer.concat(held).toString("utf8"));
      if (whole !== undefined) return onEvent(whole);
      flush();
      return onEvent(readEventData(projector.finish(), true));
    },
  };
}

function eventReader(rules: CaptureRule, onEvent: (event: StreamEvent) => void): Reader {
  const splitter = new SseSplitter(MAX_HELD_BYTES);
  const events = new EventReader(rules);
  const read = (event: StreamEvent | undefined): void => {
    if (event !== undefined) onEvent(event);
  };
  return {
    push(plain) {
      for (const piece of splitter.push(plain)) read(events.read(piece));
    },
    finish() {
      // a cut response is read as far as possible
      read(events.read({ bytes: splitter.rest(), whole: false, ends: true }));
    },
  };
}
