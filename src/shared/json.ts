/** Source: RFC 8259 leaves the range of numbers open; the store reads signed and unsigned 64-bit integers exactly. */
const MIN_INT64 = -(2n ** 63n);
const MAX_UINT64 = 2n ** 64n - 1n;
/** No longer integer is within 64 bits; the length of a number is the sender's choice. */
const MAX_INTEGER_LENGTH = 20;
/** Where a long integer may stand; digits inside text are preceded by a quote or another character. */
const LONG_DIGITS = /(?:^|[\s:[,-])\d{16}/;
const INTEGER_BEYOND_64_BITS = /\d{19}/;
/** Deeper documents are unreadable to the store (it reads 600 levels, measured) and would exhaust the stack. */
export const MAX_JSON_DEPTH = 256;

/** Node has had both since v22; TypeScript's library does not describe them yet. */
const sourceAware = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
};

/**
 * Parses what clients send: JSON, and the bare `NaN`, `Infinity`, `-Infinity` that Python writes, read as null.
 * An integer of up to 64 bits keeps every digit (as an opaque number that `stringifyJson` writes back); a larger
 * one becomes a double. Errors: SyntaxError.
 */
export function parseJson(text: string): unknown {
  const exactIntegers = LONG_DIGITS.test(text);
  const parse = (source: string): unknown =>
    exactIntegers ? sourceAware.parse(source, keepExactIntegers) : JSON.parse(source);
  try {
    return parse(text);
  } catch (error) {
    const finite = replaceNonFinite(text);
    if (finite === text) throw error;
    return parse(finite);
  }
}

function keepExactIntegers(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context.source;
  if (source === undefined || source.length > MAX_INTEGER_LENGTH || !/^-?\d+$/.test(source)) return value;
  const integer = BigInt(source);
  return integer >= MIN_INT64 && integer <= MAX_UINT64 ? sourceAware.rawJSON(source) : value;
}

/** Outside strings only; text that is not JSON for another reason comes back as it was. Cost: linear. */
function replaceNonFinite(text: string): string {
  let replaced = "";
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    const end = quote === -1 ? text.length : endOfString(text, quote);
    if (end === -1) return text;
    replaced += text.slice(at, quote === -1 ? end : quote).replace(/-?Infinity|NaN/g, "null");
    if (quote !== -1) replaced += text.slice(quote, end);
    at = end;
  }
  return replaced;
}

/** Where the string that begins at a quote ends; -1 when it does not. */
function endOfString(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at++) {
    const character = text[at];
    if (character === "\\") at++;
    else if (character === '"') return at + 1;
  }
  return -1;
}

/**
 * The canonical text of a value: well-formed Unicode (a lone surrogate becomes U+FFFD), finite numbers (others
 * become null), exact 64-bit integers and an exponent on doubles beyond them: digits the store's integers can not
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
    ? sourceAware.rawJSON(value.toExponential())
    : value;
}

/** True when a value nests deeper than `MAX_JSON_DEPTH`. */
export function isTooDeep(value: unknown): boolean {
  return exceedsDepth(value, MAX_JSON_DEPTH);
}

function exceedsDepth(node: unknown, levelsLeft: number): boolean {
  if (!isContainer(node)) return false;
  if (levelsLeft === 0) return true;
  for (const child of Object.values(node)) if (exceedsDepth(child, levelsLeft - 1)) return true;
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null && !sourceAware.isRawJSON(value);
}

/** A JSON object, as opposed to an array, a scalar or an exact integer. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return isContainer(value) && !Array.isArray(value);
}
