const QUOTE = 0x22;
const COMMA = 0x2c;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Cost of a key with an escape: it is parsed twice, renamed and renamed back. */
const ESCAPED_KEY = 32;
/** Digits of an integer that no double may hold, and their cost: they are parsed twice, and kept as text. */
const LONG_DIGITS = 16;
const LONG_NUMBER = 8;
const MAX_LEVEL = 1000;

/**
 * Counts the values and keys that a JSON text would become, before they are objects: about one for each value, and one more
 * for its key; those of very large objects and of deep lists count more, as they cost more. Stops above `max`. Cost: about a
 * nanosecond per byte, no memory.
 */
export function countValues(text: Buffer, max = Number.POSITIVE_INFINITY): number {
  let count = 1;
  let level = 0;
  const keys = new Uint32Array(MAX_LEVEL + 1);
  let digits = 0;
  let hasEscape = false;
  let backslash = text.indexOf(BACKSLASH);
  for (let at = 0; at < text.length && count <= max; at++) {
    const byte = text[at]!;
    if (byte >= ZERO && byte <= NINE) {
      if (++digits === LONG_DIGITS) count += LONG_NUMBER - 1;
      continue;
    }
    // digits of a fraction do not count
    digits = byte === POINT ? Number.NEGATIVE_INFINITY : 0;
    if (byte === COMMA) count++;
    else if (byte === COLON) count += (hasEscape ? ESCAPED_KEY : 1) + (keys[level]!++ >> 13);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      count += 1 + (level >> 6);
      level = Math.min(level + 1, MAX_LEVEL);
      keys[level] = 0;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) level = Math.max(level - 1, 0);
    else if (byte === QUOTE) {
      const start = at + 1;
      at = closingQuote(text, start);
      if (backslash !== -1 && backslash < start) backslash = text.indexOf(BACKSLASH, start);
      hasEscape = backslash !== -1 && backslash < at;
    }
  }
  return count;
}

/** Offset of the quote that ends a string; the end of the text if none does. */
function closingQuote(text: Buffer, from: number): number {
  for (let at = text.indexOf(QUOTE, from); at !== -1; at = text.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
