/**
 * Costs are counted in picodollars, millionths of a millionth of a dollar: published prices of a token are whole numbers of
 * them, so that products and sums are exact up to 2^53 of them, 9,007 USD, where sums of fractions of a dollar are not.
 */
export const PER_USD = 1e12;

/** Two roundings are between a price as it was published and its product here. */
const ROUNDED = 2 ** -51;

/** What a token costs at `usd` for so many. A price finer than a picodollar stays a fraction of one. */
export function picodollars(usd: number, perTokens: number): number {
  const product = usd * (PER_USD / perTokens);
  const whole = Math.round(product);
  return Math.abs(product - whole) <= whole * ROUNDED ? whole : product;
}

/** The product of two published decimals, without the noise of binary fractions. */
export function exact(product: number): number {
  return Number(product.toPrecision(12));
}

export function inUsd(cost: number): number {
  return cost / PER_USD;
}
