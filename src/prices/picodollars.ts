/**
 * Costs are counted in picodollars (10^-12 USD). Published token prices are whole picodollars, so products and sums are
 * exact up to 2^53 picodollars, 9,007 USD. Sums of fractions of a dollar would not be.
 */
export const PER_USD = 1e12;

/** A published price is rounded twice before it is multiplied here. */
const ROUNDED = 2 ** -51;

/** The cost of one token if `per` tokens cost `usd`. A price finer than a picodollar remains a fraction. */
export function picodollars(usd: number, perTokens: number): number {
  const product = usd * (PER_USD / perTokens);
  const whole = Math.round(product);
  return Math.abs(product - whole) <= whole * ROUNDED ? whole : product;
}

/** The product of two published decimals, without binary rounding noise. */
export function exact(product: number): number {
  return Number(product.toPrecision(12));
}

export function inUsd(cost: number): number {
  return cost / PER_USD;
}
