import { isExactInteger, stringifyJson } from "../shared/json.ts";

const NUMERIC = /^\s*\+?\d+(\.\d*)?(e[+-]?\d+)?\s*$/i;

/** Larger numbers are written with an exponent. No count is that large. */
const COUNT_END = 1e21;

/**
 * The integer part, to the precision of a double, of a number, of an integer with more digits than a double has, or of a
 * numeric string. Negative, non-finite and other values are 0.
 */
export function toCount(value: unknown): number {
  const text = isExactInteger(value) ? stringifyJson(value) : value;
  const number = typeof text === "string" && NUMERIC.test(text) ? Number(text) : text;
  if (typeof number !== "number") return 0;
  const whole = Math.trunc(number);
  return whole > 0 && whole < COUNT_END ? whole : 0;
}
