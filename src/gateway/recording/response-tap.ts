import type { CaptureRule } from "../stream/capture-rules.ts";
import { JsonProjector } from "../stream/json-projector.ts";
import { EventReader } from "../stream/event-reader.ts";
import { firstByte, isObject } from "../stream/first-byte.ts";
import { SseSplitter } from "../stream/sse-splitter.ts";
import { readBody, readEventData, type StreamEvent } from "../stream/stream-event.ts";
import { encodingsOf, openDecoder, type ResponseDecoder } from "./response-decoder.ts";

/** Responses and events up to this length are read in one piece. */
const MAX_HELD_BYTES = 64 * 1024;

/** Reads a response as it passes. */
interface Reading {
  push(plain: Buffer): void;
  finish(): void;
}

/**
 * A copy of a response that passes unchanged: a completion that is not streamed, or events with an encoding or another
 * media type. The first byte shows its type; the headers may be wrong.
 */
export class ResponseTap {
  readonly #rules: CaptureRule;
  readonly #onEvent: (event: StreamEvent) => void;
  readonly #decoder: ResponseDecoder | undefined;
  #reading: Reading | undefined;
  #bytes = 0;

  /** `onEvent` gets every event, or the whole response as one. */
  constructor(
    contentEncoding: string | undefined,
    rules: CaptureRule,
    onEvent: (event: StreamEvent) => void,
  ) {
    this.#rules = rules;
    this.#onEvent = onEvent;
    this.#decoder = openDecoder(encodingsOf(contentEncoding), (plain) => this.#read(plain));
  }

  /** Its length, decompressed if possible. */
  get bytes(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    if (this.#decoder === undefined) this.#bytes += chunk.length;
    else this.#decoder.write(chunk);
  }

  /** Resolves when the response has been read. Undefined: it has been, as any that is not compressed. */
  finish(): Promise<void> | undefined {
    const decoded = this.#decoder?.end();
    if (decoded !== undefined) return decoded.then(() => this.#reading?.finish());
    this.#reading?.finish();
    return undefined;
  }

  #read(plain: Buffer): void {
    this.#bytes += plain.length;
    if (this.#reading !== undefined) return this.#reading.push(plain);
    const first = firstByte(plain);
    if (first === undefined) return;
    this.#reading = readingOf(first.byte, this.#rules, this.#onEvent);
    this.#reading.push(plain.subarray(first.at));
  }
}

function readingOf(first: number, rules: CaptureRule, onEvent: (event: StreamEvent) => void): Reading {
  if (isObject(first)) return jsonReading(rules, onEvent);
  // of "data", "event", "id", "retry" and comments
  return "deir:".includes(String.fromCharCode(first)) ? eventReading(rules, onEvent) : nothing;
}

const nothing: Reading = { push: () => undefined, finish: () => undefined };

function jsonReading(rules: CaptureRule, onEvent: (event: StreamEvent) => void): Reading {
  const sieve = new JsonProjector(rules);
  // a small response is parsed whole, which takes a tenth of the time
  let held: Buffer[] | undefined = [];
  let heldBytes = 0;
  const letGo = (): void => {
    for (const part of held ?? []) sieve.push(part);
    held = undefined;
  };
  return {
    push(plain) {
      if (held === undefined) return sieve.push(plain);
      held.push(plain);
      heldBytes += plain.length;
      return heldBytes > MAX_HELD_BYTES ? letGo() : undefined;
    },
    finish() {
      const whole = held && readBody(Buffer.concat(held).toString("utf8"));
      if (whole !== undefined) return onEvent(whole);
      letGo();
      return onEvent(readEventData(sieve.finish(), true));
    },
  };
}

function eventReading(rules: CaptureRule, onEvent: (event: StreamEvent) => void): Reading {
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
