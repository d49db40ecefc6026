import { parseOrUndefined } from "../parse-or-undefined.ts";
import { ANSWER, type CaptureRule } from "./capture-rules.ts";
import type { EventData } from "./stream-event.ts";

const MAX_FACT_BYTES = 64 * 1024;
const MAX_FACTS_BYTES = 4 * MAX_FACT_BYTES;
const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_OTHER_BYTES = 256 * 1024;
/** A member with a longer name, as written, is skipped. */
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
 * Reads the JSON of a response as it passes, in chunks of any size. It keeps what accounting needs, in any order, and
 * skips the rest. Cost: a step per byte. Memory: what it keeps, at most 1.6 MB.
 */
export class JsonProjector {
  readonly #frames: Frame[] = [];
  readonly #kept: Buffer[] = [];
  readonly #atom = new Atom();
  #factBytes = 0;
  #textBytes = 0;
  #otherBytes = 0;
  #droppedTextBytes = 0;
  #isPart = false;
  #state: State = "value";
  /** What to keep of the next or current value; undefined: skip it. */
  #rule: CaptureRule | undefined;
  #key = "";
  #escapedInKey = false;

  constructor(rules: CaptureRule = ANSWER) {
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

  /** What was kept so far. If the response was cut: everything complete. */
  finish(): EventData {
    if (this.#state === "atom") this.#countDropped();
    this.#state = "over";
    while (this.#frames.length > 0) this.#close();
    return {
      json: Buffer.concat(this.#kept).toString("utf8"),
      droppedTextBytes: this.#droppedTextBytes,
      isPart: this.#isPart,
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
      this.#isPart ||= key === undefined;
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
      this.#isPart ||= this.#rule !== undefined;
      this.#countDropped();
    } else if (this.#isReadable(bytes)) {
      this.#keep(bytes);
      if (this.#rule?.kind === "text") this.#textBytes += bytes.length;
      else if (this.#rule?.kind === "other") this.#otherBytes += bytes.length + this.#key.length;
      else this.#factBytes += bytes.length;
    }
    this.#state = this.#frames.length === 0 ? "over" : "after";
  }

  /** One value that is not JSON, such as a word, would make all of it unreadable. */
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

/** A value that is kept or skipped whole: a scalar, or a container whose content is not needed. */
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

  /** Undefined if there was no room for it. */
  get bytes(): Buffer | undefined {
    return this.#parts && Buffer.concat(this.#parts);
  }

  /** Reads on from `at`; returns where it stopped: after the value, or at the end of the chunk. */
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

  /** False if the byte is not part of the value: a scalar ended before it. */
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

/** A key as it was meant; its bytes are one character each. Undefined if it is not one. */
function unescaped(key: string): string | undefined {
  const written = Buffer.from(key, "latin1").toString("utf8");
  if (!written.includes("\\")) return written;
  const parsed = parseOrUndefined(`"${written}"`);
  return typeof parsed === "string" ? parsed : undefined;
}
