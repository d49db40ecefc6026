import { parseOrUndefined } from "../parse-or-undefined.ts";

/** What to keep of a value: an object's members, a list's items, a fact whole, text as far as it fits. */
type Rule =
  | { readonly kind: "object"; readonly members: ReadonlyMap<string, Rule> }
  | { readonly kind: "list"; readonly items: Rule }
  | { readonly kind: "fact" | "text" };

const fact: Rule = { kind: "fact" };
const text: Rule = { kind: "text" };
const list = (items: Rule): Rule => ({ kind: "list", items });
const object = (members: Readonly<Record<string, Rule>>): Rule => ({
  kind: "object",
  members: new Map(Object.entries(members)),
});

const message = object({
  role: fact,
  content: text,
  refusal: text,
  reasoning_content: text,
  reasoning: text,
  tool_calls: text,
});
const choice = object({ index: fact, finish_reason: fact, message, delta: message });
/** The parts of a completion, or of one chunk, that accounting needs. They exclude token ids and logprobs. */
const ANSWER = object({
  id: fact,
  object: fact,
  model: fact,
  service_tier: fact,
  usage: fact,
  x_groq: fact,
  error: fact,
  message: fact,
  detail: fact,
  choices: list(choice),
});

const MAX_FACT_BYTES = 64 * 1024;
const MAX_FACTS_BYTES = 4 * MAX_FACT_BYTES;
const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_KEY_LENGTH = 128;

export interface Sieved {
  /** The kept parts as JSON. */
  readonly json: string;
  /** Bytes of text, as written, that were not kept because they were too many. */
  readonly droppedTextBytes: number;
}

interface Frame {
  readonly rule: Extract<Rule, { kind: "object" | "list" }>;
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
 * skips the rest. Cost: a step per byte. Memory: what it keeps, at most 1.3 MB.
 */
export class ResponseSieve {
  readonly #frames: Frame[] = [];
  readonly #kept: Buffer[] = [];
  readonly #atom = new Atom();
  #factBytes = 0;
  #textBytes = 0;
  #droppedTextBytes = 0;
  #state: State = "value";
  /** What to keep of the next or current value; undefined: skip it. */
  #rule: Rule | undefined = ANSWER;
  #key = "";
  #escapedInKey = false;

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
  finish(): Sieved {
    if (this.#state === "atom") this.#drop();
    this.#state = "over";
    while (this.#frames.length > 0) this.#close();
    return {
      json: Buffer.concat(this.#kept).toString("utf8"),
      droppedTextBytes: this.#droppedTextBytes,
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
      this.#atom.begin(this.#roomFor(rule));
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
      const rule = this.#frames.at(-1)?.rule;
      this.#key = unescaped(this.#key);
      this.#rule = rule?.kind === "object" ? rule.members.get(this.#key) : undefined;
      this.#state = "colon";
      return;
    }
    this.#escapedInKey = byte === BACKSLASH && !this.#escapedInKey;
    // we know no longer key
    if (this.#key.length < MAX_KEY_LENGTH) this.#key += String.fromCharCode(byte);
  }

  #endAtom(): void {
    const bytes = this.#atom.bytes;
    if (bytes === undefined) {
      this.#drop();
    } else {
      this.#keep(bytes);
      if (this.#rule?.kind === "text") this.#textBytes += bytes.length;
      else this.#factBytes += bytes.length;
    }
    this.#state = this.#frames.length === 0 ? "over" : "after";
  }

  #drop(): void {
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

  #roomFor(rule: Rule | undefined): number {
    if (rule === undefined) return 0;
    return rule.kind === "text"
      ? MAX_TEXT_BYTES - this.#textBytes
      : Math.min(MAX_FACT_BYTES, MAX_FACTS_BYTES - this.#factBytes);
  }
}

/** A value that is kept or skipped whole: a scalar, or a container whose content is not needed. */
class Atom {
  #parts: Buffer[] | undefined;
  #room = 0;
  #depth = 0;
  #inString = false;
  #isScalar = false;
  #hasBegun = false;
  #escaped = false;
  length = 0;
  isComplete = false;

  begin(room: number): void {
    this.#parts = room > 0 ? [] : undefined;
    this.#room = room;
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
    if (this.length > this.#room) this.#parts = undefined;
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

/** A key without its escapes. The keys that we know are ASCII. */
function unescaped(key: string): string {
  if (!key.includes("\\")) return key;
  const parsed = parseOrUndefined(`"${key}"`);
  return typeof parsed === "string" ? parsed : key;
}
