import { PER_USD } from "../../prices/picodollars.ts";

/** Exact amount beyond 2^53 picodollars: whole dollars, and the rest in picodollars. */
export interface Usd {
  readonly dollars: number;
  readonly picodollars: number;
}

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
