import { createParser } from "eventsource-parser";
import { COMPLETION, type CaptureRule } from "./capture-rules.ts";
import { JsonProjector } from "./json-projector.ts";
import type { StreamChunk } from "./sse-splitter.ts";
import { readEventData, readStreamEvent, type StreamEvent } from "./stream-event.ts";

/** Parses events of a stream copy: whole events at once, larger ones incrementally. */
export class EventReader {
  #large: LargeEvent | undefined;
  #data: string | undefined;
  #usesIds = false;
  readonly #rules: CaptureRule;
  readonly #parser = createParser({
    onEvent: ({ data }) => {
      this.#data = data;
    },
    onId: () => {
      this.#usesIds = true;
    },
  });

  constructor(rules: CaptureRule = COMPLETION) {
    this.#rules = rules;
  }

  /** True if an event had an `id:`. */
  get usesIds(): boolean {
    return this.#usesIds;
  }

  /** Returns the event that this chunk completes; `undefined` if none, or one without data. */
  read({ bytes, whole, ends }: StreamChunk): StreamEvent | undefined {
    if (whole) return this.#readWhole(bytes);
    this.#large ??= new LargeEvent(this.#rules);
    this.#large.push(bytes);
    if (!ends) return undefined;
    const event = this.#large.finish();
    this.#large = undefined;
    return event;
  }

  #readWhole(bytes: Buffer): StreamEvent | undefined {
    this.#data = undefined;
    this.#parser.feed(bytes.toString("utf8"));
    return this.#data === undefined ? undefined : readStreamEvent(this.#data);
  }
}

const DATA = "data:";
const LF = 10;
const CR = 13;

/** Incremental reader of one large event. */
class LargeEvent {
  readonly #projector: JsonProjector;
  /** Line prefix, until the field name is known. */
  #name: string | undefined = "";
  #isData = false;

  constructor(rules: CaptureRule) {
    this.#projector = new JsonProjector(rules);
  }

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#name !== undefined) at = this.#readName(bytes, at);
      else at = this.#readLine(bytes, at);
    }
  }

  finish(): StreamEvent {
    return readEventData(this.#projector.finish());
  }

  #readName(bytes: Buffer, at: number): number {
    const byte = bytes[at]!;
    if (byte === LF || byte === CR) {
      this.#name = "";
      return at + 1;
    }
    this.#name += String.fromCharCode(byte);
    if (this.#name?.length === DATA.length) {
      this.#isData = this.#name === DATA;
      this.#name = undefined;
    }
    return at + 1;
  }

  #readLine(bytes: Buffer, from: number): number {
    const end = lineEnd(bytes, from);
    if (this.#isData) this.#projector.push(bytes.subarray(from, end));
    if (end < bytes.length) this.#name = "";
    return end;
  }
}

function lineEnd(bytes: Buffer, from: number): number {
  const lf = bytes.indexOf(LF, from);
  const end = lf === -1 ? bytes.length : lf;
  const cr = bytes.subarray(from, end).indexOf(CR);
  return cr === -1 ? end : from + cr;
}
