const DIGITS = 18;
const PER_USD = 10n ** BigInt(DIGITS);

/** Converts dollars to attodollars: every digit that the number prints, down to 10^-18. */
export function attodollarsIn(usd: number): bigint {
  const [mantissa = "0", exponent = "0"] = usd.toExponential().split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  const shift = DIGITS + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  return shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
}

/** Prints attodollars as a decimal number of dollars. */
export function decimalUsd(attodollars: bigint): string {
  const sign = attodollars < 0n ? "-" : "";
  const amount = attodollars < 0n ? -attodollars : attodollars;
  const fraction = String(amount % PER_USD)
    .padStart(DIGITS, "0")
    .replace(/0+$/, "");
  return `${sign}${amount / PER_USD}${fraction === "" ? "" : "."}${fraction}`;
}

/** Parses what `decimalUsd` prints. */
export function parseUsd(decimal: string): bigint {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return BigInt(whole) * PER_USD + BigInt(fraction.padEnd(DIGITS, "0"));
}

/** The number of dollars nearest to an amount. */
export function usdNumber(attodollars: bigint): number {
  return Number(decimalUsd(attodollars));
}
