import { parseOrUndefined } from "../parse-or-undefined.ts";
import { COMPLETION, type CaptureRule } from "./capture-rules.ts";
import type { EventData } from "./stream-event.ts";

const MAX_FACT_BYTES = 64 * 1024;
const MAX_FACTS_BYTES = 4 * MAX_FACT_BYTES;
const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_OTHER_BYTES = 256 * 1024;
/** Members with longer names, as encoded, are skipped. */
const MAX_KEY_BYTES = 128;

interface Frame {
  readonly rule: Extract<CaptureRule, { kind: "object" | "list" }>;
  isEmpty: boolean;
}

type State = "value" | "key" | "in_key" | "colon" | "atom" | "after" | "over";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * Projects streamed JSON to the members a capture rule selects, in chunks of any size. Cost: O(bytes). Memory: the captured
 * values, at most 1.6 MB.
 */
export class JsonProjector {
  readonly #frames: Frame[] = [];
  readonly #kept: Buffer[] = [];
  readonly #atom = new Atom();
  #factBytes = 0;
  #textBytes = 0;
  #otherBytes = 0;
  #droppedTextBytes = 0;
  #isPartial = false;
  #state: State = "value";
  /** Rule of the next or current value; `undefined`: skip it. */
  #rule: CaptureRule | undefined;
  #key = "";
  #escapedInKey = false;

  constructor(rules: CaptureRule = COMPLETION) {
    this.#rule = rules;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && this.#state !== "over") {
      if (this.#state === "atom") {
        at = this.#atom.read(chunk, at);
        if (this.#atom.isComplete) this.#endAtom();
      } else if (this.#state === "in_key") {
        this.#readKey(chunk[at++]!);
      } else if (this.#readStructure(chunk[at]!)) {
        at++;
      }
    }
  }

  /** True once a whole value has been read. */
  get isComplete(): boolean {
    return this.#state === "over" && this.#frames.length === 0;
  }

  /** Returns the captured JSON; of a cut response, everything complete. */
  finish(): EventData {
    if (this.#state === "atom") this.#countDropped();
    this.#state = "over";
    while (this.#frames.length > 0) this.#close();
    return {
      json: Buffer.concat(this.#kept).toString("utf8"),
      droppedTextBytes: this.#droppedTextBytes,
      isPartial: this.#isPartial,
    };
  }

  /** Reads a byte between keys and values; false if it begins a value. */
  #readStructure(byte: number): boolean {
    if (isSpace(byte) || (byte > 0x7f && this.#frames.length === 0)) return true;
    if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#endContainer();
    else if (this.#state === "value") return this.#beginValue(byte);
    else if (this.#state === "key" && byte === QUOTE) this.#beginKey();
    else if (this.#state === "colon" && byte === COLON) this.#state = "value";
    else if (this.#state === "after" && byte === COMMA) this.#next();
    else this.#state = "over";
    return true;
  }

  #beginValue(byte: number): boolean {
    const rule = this.#rule;
    const isContainer =
      (rule?.kind === "object" && byte === OPEN_BRACE) || (rule?.kind === "list" && byte === OPEN_BRACKET);
    if (!isContainer) {
      this.#atom.begin(this.#budgetFor(rule));
      this.#state = "atom";
      return false;
    }
    this.#keep(rule.kind === "object" ? "{" : "[");
    this.#frames.push({ rule, isEmpty: true });
    this.#next();
    return true;
  }

  /** Moves to the next member or item of the innermost container. */
  #next(): void {
    const rule = this.#frames.at(-1)?.rule;
    this.#rule = rule?.kind === "list" ? rule.items : undefined;
    this.#state = rule?.kind === "list" ? "value" : "key";
  }

  #beginKey(): void {
    this.#key = "";
    this.#escapedInKey = false;
    this.#state = "in_key";
  }

  #readKey(byte: number): void {
    if (byte === QUOTE && !this.#escapedInKey) {
      const key = this.#key.length < MAX_KEY_BYTES ? unescaped(this.#key) : undefined;
      this.#key = key ?? "";
      this.#rule = key === undefined ? undefined : this.#ruleOf(key);
      this.#isPartial ||= key === undefined;
      this.#state = "colon";
      return;
    }
    this.#escapedInKey = byte === BACKSLASH && !this.#escapedInKey;
    if (this.#key.length < MAX_KEY_BYTES) this.#key += String.fromCharCode(byte);
  }

  #ruleOf(key: string): CaptureRule | undefined {
    const rule = this.#frames.at(-1)?.rule;
    if (rule?.kind !== "object") return undefined;
    return rule.members.has(key) ? rule.members.get(key) : rule.others;
  }

  #endAtom(): void {
    const bytes = this.#atom.bytes;
    if (bytes === undefined) {
      this.#isPartial ||= this.#rule !== undefined;
      this.#countDropped();
    } else if (this.#isReadable(bytes)) {
      this.#keep(bytes);
      if (this.#rule?.kind === "text") this.#textBytes += bytes.length;
      else if (this.#rule?.kind === "other") this.#otherBytes += bytes.length + this.#key.length;
      else this.#factBytes += bytes.length;
    }
    this.#state = this.#frames.length === 0 ? "over" : "after";
  }

  /** True if the value parses: one invalid value would make the whole unreadable. */
  #isReadable(bytes: Buffer): boolean {
    const canBeAnything = this.#rule?.kind === "text" || this.#frames.length === 0;
    return canBeAnything || parseOrUndefined(bytes.toString("utf8")) !== undefined;
  }

  #countDropped(): void {
    if (this.#rule?.kind === "text") this.#droppedTextBytes += this.#atom.length;
  }

  #endContainer(): void {
    if (this.#frames.length === 0) this.#state = "over";
    else this.#close();
  }

  #close(): void {
    const frame = this.#frames.pop();
    this.#kept.push(Buffer.from(frame?.rule.kind === "list" ? "]" : "}"));
    if (this.#state !== "over") this.#state = this.#frames.length === 0 ? "over" : "after";
  }

  #keep(value: Buffer | string): void {
    const frame = this.#frames.at(-1);
    if (frame !== undefined) {
      const comma = frame.isEmpty ? "" : ",";
      this.#kept.push(
        Buffer.from(frame.rule.kind === "list" ? comma : `${comma}${JSON.stringify(this.#key)}:`),
      );
      frame.isEmpty = false;
    }
    this.#kept.push(Buffer.from(value));
  }

  #budgetFor(rule: CaptureRule | undefined): number {
    if (rule === undefined) return 0;
    if (rule.kind === "text") return MAX_TEXT_BYTES - this.#textBytes;
    if (rule.kind === "other") return MAX_OTHER_BYTES - this.#otherBytes;
    return Math.min(MAX_FACT_BYTES, MAX_FACTS_BYTES - this.#factBytes);
  }
}

/** Value captured or skipped as a unit: a scalar, or an unparsed container. */
class Atom {
  #parts: Buffer[] | undefined;
  #budget = 0;
  #depth = 0;
  #inString = false;
  #isScalar = false;
  #hasBegun = false;
  #escaped = false;
  length = 0;
  isComplete = false;

  begin(budget: number): void {
    this.#parts = budget > 0 ? [] : undefined;
    this.#budget = budget;
    this.#depth = 0;
    this.#inString = false;
    this.#isScalar = false;
    this.#hasBegun = false;
    this.#escaped = false;
    this.length = 0;
    this.isComplete = false;
  }

  /** Captured bytes; `undefined` if they exceeded the budget. */
  get bytes(): Buffer | undefined {
    return this.#parts && Buffer.concat(this.#parts);
  }

  /** Continues at `at`; returns the offset after the value, or the end of the chunk. */
  read(chunk: Buffer, at: number): number {
    let to = at;
    while (to < chunk.length && !this.isComplete) {
      if (this.#inString) to = this.#readString(chunk, to);
      else if (!this.#readOne(chunk[to]!)) break;
      else to++;
    }
    this.length += to - at;
    if (this.length > this.#budget) this.#parts = undefined;
    // a copy, so that the chunk can be released
    this.#parts?.push(Buffer.from(chunk.subarray(at, to)));
    return to;
  }

  /** Returns false if the byte is not part of the value: a scalar ended before it. */
  #readOne(byte: number): boolean {
    if (this.#isScalar) {
      this.isComplete = isSpace(byte) || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
      return !this.isComplete;
    }
    if (byte === QUOTE) this.#inString = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.isComplete = --this.#depth === 0;
    else if (!this.#hasBegun) this.#isScalar = true;
    this.#hasBegun = true;
    return true;
  }

  /** Moves from inside a string to the position after it. */
  #readString(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      if (this.#escaped) {
        this.#escaped = false;
        continue;
      }
      const byte = chunk[at]!;
      if (byte === BACKSLASH) this.#escaped = true;
      if (byte !== QUOTE) continue;
      this.#inString = false;
      this.isComplete = this.#depth === 0;
      return at + 1;
    }
    return chunk.length;
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Decodes a key collected as one character per byte; `undefined` if it is invalid. */
function unescaped(key: string): string | undefined {
  const written = Buffer.from(key, "latin1").toString("utf8");
  if (!written.includes("\\")) return written;
  const parsed = parseOrUndefined(`"${written}"`);
  return typeof parsed === "string" ? parsed : undefined;
}
