import { parseOrUndefined } from "../shared/json.ts";

/** Longest value that is read, as written. */
const MAX_VALUE_BYTES = 64 * 1024;
/** One character of a name, written as an escape. */
const ESCAPE_BYTES = 6;

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

type State = "start" | "first" | "name" | "colon" | "value" | "after" | "end" | "unreadable";

/**
 * Reads named members of a JSON object that comes in chunks; of a member named twice, the last. Other values are skipped by
 * their strings and brackets, not validated. Cost: linear. Memory: the values read, of at most 64 KiB each.
 */
export class JsonScan {
  readonly #names: ReadonlySet<string>;
  readonly #optional: ReadonlySet<string>;
  readonly #maxNameBytes: number;
  readonly #found = new Map<string, unknown>();
  #state: State = "start";
  #name: string | undefined;
  /** Kind of the name or value that is being read. */
  #token: "scalar" | "other" | undefined;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Undefined while the token is skipped. */
  #kept: Buffer[] | undefined;
  #room = 0;

  /** `optional`: further members, which are left out if they are too long. */
  constructor(names: readonly string[], optional: readonly string[] = []) {
    this.#names = new Set([...names, ...optional]);
    this.#optional = new Set(optional);
    this.#maxNameBytes = Math.max(...[...this.#names].map((name) => name.length)) * ESCAPE_BYTES + 2;
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && this.#state !== "unreadable";) {
      if (this.#token !== undefined) at = this.#readToken(chunk, at);
      else if (!this.#begin(chunk[at]!)) at++;
    }
  }

  /** True once the whole object has been read. */
  get isWhole(): boolean {
    return this.#state === "end";
  }

  /** The members so far; undefined if the text is no JSON object, or a value is too long. */
  get members(): Readonly<Record<string, unknown>> | undefined {
    return this.#state === "unreadable" ? undefined : Object.fromEntries(this.#found);
  }

  /** Some of the members. */
  pick(names: readonly string[]): Readonly<Record<string, unknown>> | undefined {
    return this.members && Object.fromEntries([...this.#found].filter(([name]) => names.includes(name)));
  }

  /** Reads a byte between tokens; true if it begins one instead. */
  #begin(byte: number): boolean {
    const state = this.#state;
    if (isSpace(byte) || (state === "start" && byte > 0x7f)) return false; // a byte order mark
    if (state === "start" && byte === OPEN_BRACE) this.#state = "first";
    else if (state === "colon" && byte === COLON) this.#state = "value";
    else if (state === "after" && byte === COMMA) this.#state = "name";
    else if ((state === "after" || state === "first") && byte === CLOSE_BRACE) this.#state = "end";
    else if (state === "value" || ((state === "first" || state === "name") && byte === QUOTE)) {
      this.#token = byte === QUOTE || byte === OPEN_BRACE || byte === OPEN_BRACKET ? "other" : "scalar";
      const isSkipped = state === "value" && this.#name === undefined && this.#token === "other";
      this.#kept = isSkipped ? undefined : [];
      this.#room = state === "value" ? MAX_VALUE_BYTES : this.#maxNameBytes;
      return true;
    } else this.#state = "unreadable";
    return false;
  }

  /** Reads on in a token; returns the offset after it, or the end of the chunk. */
  #readToken(chunk: Buffer, from: number): number {
    let [depth, inString, escaped, isOver, at] = [this.#depth, this.#inString, this.#escaped, false, from];
    for (; at < chunk.length && !isOver; at++) {
      const byte = chunk[at]!;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) {
          inString = false;
          isOver = depth === 0;
        }
      } else if (this.#token === "scalar") {
        if (byte === COMMA || byte === CLOSE_BRACE || isSpace(byte)) break;
      } else if (byte === QUOTE) inString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) isOver = --depth === 0;
    }
    [this.#depth, this.#inString, this.#escaped] = [depth, inString, escaped];
    this.#keep(chunk.subarray(from, at));
    if (isOver || at < chunk.length) this.#end();
    return at;
  }

  #keep(part: Buffer): void {
    this.#room -= part.length;
    if (this.#room < 0 && this.#kept !== undefined) {
      this.#kept = undefined;
      if (this.#state === "value" && !this.#optional.has(this.#name ?? "")) this.#state = "unreadable";
    }
    // a copy, so that the chunk can be released
    this.#kept?.push(Buffer.from(part));
  }

  #end(): void {
    this.#token = undefined;
    const value = this.#kept && parseOrUndefined(Buffer.concat(this.#kept).toString("utf8"));
    if (this.#kept !== undefined && value === undefined) this.#state = "unreadable";
    if (this.#state === "unreadable") return;
    if (this.#state === "value" && this.#name !== undefined)
      if (value === undefined) this.#found.delete(this.#name);
      else this.#found.set(this.#name, value);
    else if (this.#state !== "value")
      this.#name = typeof value === "string" && this.#names.has(value) ? value : undefined;
    this.#state = this.#state === "value" ? "after" : "colon";
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
