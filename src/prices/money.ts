import { PER_USD } from "./picodollars.ts";

/** Sum of costs. */
export interface Money {
  /** `null` if nothing that was used has a price, or nothing was used. */
  readonly usd: Usd | null;
  /** True if something that was used has no price, so that the sum is a lower bound, or unknown without any price. */
  readonly unpriced: boolean;
}

export const NO_MONEY: Money = { usd: null, unpriced: false };

export function addMoney(one: Money, other: Money): Money {
  const usd = one.usd === null || other.usd === null ? (one.usd ?? other.usd) : addUsd(one.usd, other.usd);
  return { usd, unpriced: one.unpriced || other.unpriced };
}

/** What is known of a sum: 0 if nothing was used, null if nothing that was used has a price. */
export function knownOf({ usd, unpriced }: Money): Usd | null {
  return usd ?? (unpriced ? null : ZERO);
}

/** Prints what is known as a JSON number or null. */
export function moneyText(money: Money): string {
  const known = knownOf(money);
  return known === null ? "null" : usdText(known);
}

/** Exact amount beyond 2^53 picodollars: whole dollars, and the rest in picodollars. */
export interface Usd {
  readonly dollars: number;
  readonly picodollars: number;
}

const ZERO: Usd = { dollars: 0, picodollars: 0 };

export function usd(picodollars: number): Usd {
  const dollars = Math.floor(picodollars / PER_USD);
  return { dollars, picodollars: picodollars - dollars * PER_USD };
}

/** Multiplies a quantity and a price in picodollars; exact for integer prices. */
export function usdProduct(quantity: number, price: number): Usd {
  const product = quantity * price;
  if (product <= Number.MAX_SAFE_INTEGER || !Number.isSafeInteger(quantity) || !Number.isSafeInteger(price))
    return usd(product);
  const [exact, perUsd] = [BigInt(quantity) * BigInt(price), BigInt(PER_USD)];
  return { dollars: Number(exact / perUsd), picodollars: Number(exact % perUsd) };
}

export function addUsd(one: Usd, other: Usd): Usd {
  const rest = usd(one.picodollars + other.picodollars);
  return { dollars: one.dollars + other.dollars + rest.dollars, picodollars: rest.picodollars };
}

export function compareUsd(one: Usd, other: Usd): number {
  return one.dollars - other.dollars || one.picodollars - other.picodollars;
}

/** Prints a JSON number, with every digit if the picodollars are an integer. */
export function usdText({ dollars, picodollars }: Usd): string {
  if (!Number.isInteger(picodollars)) return String(dollars + picodollars / PER_USD);
  if (picodollars === 0) return String(dollars);
  return `${dollars}.${String(picodollars).padStart(12, "0").replace(/0+$/, "")}`;
}

/** Costs are compared in 10^-18 USD, so that prices with fractions of a picodollar are whole numbers. */
export const PER_PICODOLLAR = 1_000_000;
const PER_USD_AND_PICODOLLAR = BigInt(PER_USD) * BigInt(PER_PICODOLLAR);

/** Converts to 10^-18 USD, rounded. */
export function attodollars({ dollars, picodollars }: Usd): bigint {
  return BigInt(dollars) * PER_USD_AND_PICODOLLAR + attodollarsOf(picodollars);
}

export function attodollarsOf(picodollars: number): bigint {
  const whole = Math.trunc(picodollars);
  return BigInt(whole) * BigInt(PER_PICODOLLAR) + BigInt(Math.round((picodollars - whole) * PER_PICODOLLAR));
}

/** Converts from 10^-18 USD. */
export function usdOf(amount: bigint): Usd {
  const rest = amount % PER_USD_AND_PICODOLLAR;
  const perPicodollar = BigInt(PER_PICODOLLAR);
  const picodollars = Number(rest / perPicodollar) + Number(rest % perPicodollar) / PER_PICODOLLAR;
  return { dollars: Number(amount / PER_USD_AND_PICODOLLAR), picodollars };
}
