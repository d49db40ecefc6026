import { parseJsonText } from "./escaped-keys.ts";
import { isRawJSON, parseExactly, rawJSON } from "./exact-integers.ts";
import { outsideStrings } from "./outside-strings.ts";

const INTEGER_BEYOND_64_BITS = /\d{19}/;
/** Deeper documents are unreadable to the store (it reads 600 levels, measured) and would exhaust the stack. */
export const MAX_JSON_DEPTH = 256;

/**
 * Parses JSON from clients, including the bare `NaN`, `Infinity`, `-Infinity` that Python writes, which it reads as null.
 * An integer of up to 64 bits keeps every digit (as an opaque number that `stringifyJson` writes back); a larger
 * one becomes a double. Errors: SyntaxError.
 */
export function parseJson(text: string): unknown {
  return parseFinite(text, parseExactly);
}

/** Parses JSON like `parseJson`, but with all numbers as doubles; returns `undefined` on a syntax error. */
export function parseOrUndefined(text: string): unknown {
  try {
    return parseFinite(text, parseJsonText);
  } catch {
    return undefined;
  }
}

function parseFinite(text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch (error) {
    const finite = outsideStrings(text, (piece) => piece.replace(/-?Infinity|NaN/g, "null"));
    if (finite === text) throw error;
    return parse(finite);
  }
}

/**
 * The canonical text of a value: well-formed Unicode (a lone surrogate becomes U+FFFD), finite numbers (others
 * become null), exact 64-bit integers and an exponent on doubles beyond them: digits the store's integers cannot
 * hold would make the whole document unreadable to it. Every JSON function of the store can read the text, and writes
 * the same characters in the same way.
 */
export function stringifyJson(value: unknown): string {
  const plain = JSON.stringify(value) ?? "null";
  const text = INTEGER_BEYOND_64_BITS.test(plain) ? JSON.stringify(value, withExponent) : plain;
  return UNLIKE_THE_STORE.test(text) ? text.replace(/\\.[0-9a-f]{0,4}|[\u2028\u2029]/g, asTheStore) : text;
}

/** Lone surrogates, hexadecimal letters, and the two line separators that only some escape. */
const UNLIKE_THE_STORE = /\\u(?:d|00[01][a-f])|[\u2028\u2029]/;

function asTheStore(character: string): string {
  if (character === "\u2028") return String.raw`\u2028`;
  if (character === "\u2029") return String.raw`\u2029`;
  if (/^\\ud[89a-f]/.test(character)) return `\ufffd${character.slice(6)}`;
  return character.startsWith(String.raw`\u00`) ? character.toUpperCase().replace("U", "u") : character;
}

function withExponent(_key: string, value: unknown): unknown {
  return typeof value === "number" && Number.isInteger(value) && Math.abs(value) >= 2 ** 63
    ? rawJSON(value.toExponential())
    : value;
}

/** True when a value nests deeper than `MAX_JSON_DEPTH`. */
export function isTooDeep(value: unknown): boolean {
  return exceedsDepth(value, MAX_JSON_DEPTH);
}

function exceedsDepth(node: unknown, levelsLeft: number): boolean {
  if (!isContainer(node)) return false;
  if (levelsLeft === 0) return true;
  if (Array.isArray(node)) return node.some((child) => exceedsDepth(child, levelsLeft - 1));
  for (const name in node)
    if (exceedsDepth((node as Record<string, unknown>)[name], levelsLeft - 1)) return true;
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null && !isRawJSON(value);
}

/** An integer of up to 64 bits that no double holds, as `parseJson` reads it. */
export function isExactInteger(value: unknown): boolean {
  return isRawJSON(value);
}

/** A JSON object, as opposed to an array, a scalar or an exact integer. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return isContainer(value) && !Array.isArray(value);
}
