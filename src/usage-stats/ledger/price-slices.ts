import type { PriceBook } from "../../prices/price-book.ts";
import type { TokenPrices } from "../../prices/rates.ts";
import { parseJsonText } from "../../shared/escaped-keys.ts";
import type { Service } from "../../usage/usage.ts";

/** Who was asked for what: an LLM, and as much as is known of who served it. */
export interface Served {
  readonly llm: string;
  readonly service: Service | undefined;
}

/** What cuts the prices of some LLMs: instants (ms), and sizes of requests. Between two of them a price is the same. */
export interface PriceCuts {
  readonly instantsMs: readonly number[];
  readonly inputs: readonly number[];
  /** Where some tokens have a price and others none, it matters which of them a usage has. */
  readonly hasGaps: boolean;
  /** Some requests have a fee. */
  readonly hasFees: boolean;
}

export const NO_PRICES: PriceCuts = { instantsMs: [], inputs: [], hasGaps: false, hasFees: false };

/** More than this, and it is quicker to look prices up call by call. */
const MAX_LOOKUPS = 20_000;

export function servedOf(texts: Iterable<string>): readonly Served[] {
  return [...new Set(texts)].map((text) => {
    const [llm, provider, tier] = parseJsonText(text) as [string, string, string];
    return { llm, service: serviceOf(provider, tier) };
  });
}

export function serviceOf(provider: string, tier: string): Service | undefined {
  return provider === "" && tier === "" ? undefined : { provider, tier };
}

/** Undefined if there are too many. */
export function priceCuts(
  book: PriceBook,
  served: readonly Served[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): PriceCuts | undefined {
  const instants = new Set<number>();
  const inputs = new Set<number>();
  const known: TokenPrices[] = [];
  let lookups = 0;
  for (const { llm, service } of served) {
    for (let atMs = fromMs; atMs <= toMs; atMs = book.steadyUntil(llm, atMs, service)) {
      if (++lookups > MAX_LOOKUPS) return undefined;
      instants.add(atMs);
      const rates = book.ratesAt(llm, atMs, service);
      if (rates === null) continue;
      for (const { aboveTokens } of rates.tiers) inputs.add(aboveTokens);
      known.push(rates.base, ...rates.tiers.map(({ prices }) => prices));
    }
  }
  instants.delete(fromMs);
  const ascending = (values: Iterable<number>): readonly number[] => [...values].sort((a, b) => a - b);
  return {
    instantsMs: ascending(instants),
    inputs: ascending(inputs),
    hasGaps: known.some((prices) => TOKENS.some((kind) => prices[kind] === null)),
    hasFees: known.some(({ request }) => request !== undefined),
  };
}

const TOKENS = ["prompt", "completion", "cacheRead", "cacheCreation"] as const;
