import type { UnitPrices } from "./units.ts";

/** What one token of each of the four kinds costs, in picodollars. `null`: no price is known. */
export interface TokenPrices {
  readonly prompt: number | null;
  readonly completion: number | null;
  readonly cacheRead: number | null;
  readonly cacheCreation: number | null;
  /** Units with a price of their own; absent where there are none. */
  readonly units?: UnitPrices;
  /** The fee for a request; absent where there is none. */
  readonly request?: number;
}

/** Prices of a request whose input is larger than `aboveTokens`: they hold for all its tokens, not for the excess. */
interface PriceTier {
  readonly aboveTokens: number;
  readonly prices: TokenPrices;
}

/** What one model costs in one price period. */
export interface Rates {
  readonly base: TokenPrices;
  /** Ascending in `aboveTokens`. */
  readonly tiers: readonly PriceTier[];
}

/** A model's prices over time. */
export interface Schedule {
  /** The rates in force at an instant (ms since the epoch); null when no token price is known. */
  ratesAt(atMs: number): Rates | null;
  /** Since when they are (ms since the epoch); null: for as long as is known. */
  sinceAt(atMs: number): number | null;
}

/** The prices for a request of so many input tokens, those from the cache included. */
export function pricesFor(rates: Rates, inputTokens: number): TokenPrices {
  return tierFor(rates, inputTokens)?.prices ?? rates.base;
}

/** The tier that such a request has reached; undefined for none. */
export function tierFor({ tiers }: Rates, inputTokens: number): PriceTier | undefined {
  for (let index = tiers.length - 1; index >= 0; index--) {
    const tier = tiers[index]!;
    if (inputTokens > tier.aboveTokens) return tier;
  }
  return undefined;
}
