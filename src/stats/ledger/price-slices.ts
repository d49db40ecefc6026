import type { PriceBook } from "../../prices/price-book.ts";
import type { TokenPrices } from "../../prices/rates.ts";
import { parseJsonText } from "../../shared/escaped-keys.ts";
import type { Service } from "../../usage/usage.ts";

/** Who was asked for what: an LLM, and as much as is known of who served it. */
export interface Served {
  readonly llm: string;
  readonly service: Service | undefined;
  /** Some of it has units, which are charged as a whole. */
  readonly hasDetails: boolean;
  /** No request had a larger input. */
  readonly maxInput: number;
}

/** What cuts the prices of some LLMs: instants (µs), and sizes of requests. Between two of them a price is the same. */
export interface PriceCuts {
  readonly instantsUs: readonly number[];
  readonly inputs: readonly number[];
  /** Where some tokens have a price and others none, it matters which of them a usage has. */
  readonly hasGaps: boolean;
  /** Some requests have a fee. */
  readonly hasFees: boolean;
}

export const NO_PRICES: PriceCuts = { instantsUs: [], inputs: [], hasGaps: false, hasFees: false };

/** More than this, and it is quicker to look prices up call by call. */
const MAX_LOOKUPS = 20_000;

/** Each LLM and service once. */
export function servedOf(texts: Iterable<string>): readonly Served[] {
  const served = new Map<string, Served>();
  for (const text of new Set(texts)) {
    const [llm, provider, tier, details, input] = parseJsonText(text) as [
      string,
      string,
      string,
      number,
      number,
    ];
    const key = JSON.stringify([llm, provider, tier]);
    const known = served.get(key);
    served.set(key, {
      llm,
      service: serviceOf(provider, tier),
      hasDetails: details === 1 || known?.hasDetails === true,
      maxInput: Math.max(input, known?.maxInput ?? 0),
    });
  }
  return [...served.values()];
}

export function serviceOf(provider: string, tier: string): Service | undefined {
  return provider === "" && tier === "" ? undefined : { provider, tier };
}

/** Undefined if there are too many. */
export function priceCuts(
  book: PriceBook,
  served: readonly Served[],
  { fromUs, toUs }: { readonly fromUs: number; readonly toUs: number },
): PriceCuts | undefined {
  const instants = new Set<number>();
  const inputs = new Set<number>();
  const known: TokenPrices[] = [];
  let lookups = 0;
  for (const { llm, service } of served) {
    for (let atUs = fromUs; atUs <= toUs; atUs = book.steadyUntil(llm, atUs, service)) {
      if (++lookups > MAX_LOOKUPS) return undefined;
      instants.add(atUs);
      const rates = book.ratesAt(llm, atUs, service);
      if (rates === null) continue;
      for (const { aboveTokens } of rates.tiers) inputs.add(aboveTokens);
      known.push(rates.base, ...rates.tiers.map(({ prices }) => prices));
    }
  }
  instants.delete(fromUs);
  const ascending = (values: Iterable<number>): readonly number[] => [...values].sort((a, b) => a - b);
  return {
    instantsUs: ascending(instants),
    inputs: ascending(inputs),
    hasGaps: known.some((prices) => TOKENS.some((kind) => prices[kind] === null)),
    hasFees: known.some(({ request }) => request !== undefined),
  };
}

const TOKENS = ["prompt", "completion", "cacheRead", "cacheCreation"] as const;
