import { isExactInteger, stringifyJson } from "../shared/json.ts";

const NUMERIC = /^\s*\+?\d+(\.\d*)?(e[+-]?\d+)?\s*$/i;

/** From here on numbers are written with an exponent, and nobody counts that far. */
const COUNT_END = 1e21;

/**
 * A number, an integer with more digits than a double has, or a numeric string: its whole part, to the precision of a
 * double. Negative, non-finite and other values count 0.
 */
export function toCount(value: unknown): number {
  const text = isExactInteger(value) ? stringifyJson(value) : value;
  const number = typeof text === "string" && NUMERIC.test(text) ? Number(text) : text;
  if (typeof number !== "number") return 0;
  const whole = Math.trunc(number);
  return whole > 0 && whole < COUNT_END ? whole : 0;
}
