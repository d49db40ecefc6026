import type { UnitPrices } from "./units.ts";

/** The cost of one token of each of the four kinds, in picodollars. `null`: unknown. */
export interface TokenPrices {
  readonly prompt: number | null;
  readonly completion: number | null;
  readonly cacheRead: number | null;
  readonly cacheCreation: number | null;
  /** Units with a price of their own; absent if there are none. */
  readonly units?: UnitPrices;
  /** The fee per request; absent if there is none. */
  readonly request?: number;
}

/** The prices of a request with an input of more than `aboveTokens`. They apply to all of its tokens, not to the excess. */
interface PriceTier {
  readonly aboveTokens: number;
  readonly prices: TokenPrices;
}

/** Rates of a model in one price period. */
export interface Rates {
  readonly base: TokenPrices;
  /** Ascending in `aboveTokens`. */
  readonly tiers: readonly PriceTier[];
}

/** The prices of a request with this many input tokens, including cached ones. */
export function pricesFor(rates: Rates, inputTokens: number): TokenPrices {
  return tierFor(rates, inputTokens)?.prices ?? rates.base;
}

/** The tier that such a request reaches; undefined for none. */
export function tierFor({ tiers }: Rates, inputTokens: number): PriceTier | undefined {
  for (let index = tiers.length - 1; index >= 0; index--) {
    const tier = tiers[index]!;
    if (inputTokens > tier.aboveTokens) return tier;
  }
  return undefined;
}
