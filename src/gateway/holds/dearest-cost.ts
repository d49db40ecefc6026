import { attodollarsOf } from "../../prices/money.ts";
import type { PriceBook } from "../../prices/price-book.ts";
import type { Rates, TokenPrices } from "../../prices/rates.ts";
import { serviceOf } from "../../usage/read-service.ts";
import type { Unit } from "../../usage/units.ts";
import type { MostUsed } from "./most-used.ts";

interface Priced {
  readonly llm: string;
  readonly provider: string | undefined;
  /** Service tiers that may serve it; the price of the first must be known. */
  readonly tiers: readonly string[];
  /** Microseconds since the epoch. */
  readonly startedAtUs: number;
}

/** Returns the cost of the most that a model can use at the dearest tier and size, in 10^-18 USD; null if a price is unknown. */
export function dearestCost(
  { llm, provider, tiers, startedAtUs }: Priced,
  most: MostUsed,
  book: PriceBook,
): bigint | null {
  let dearest: bigint | null = null;
  for (const [index, tier] of tiers.entries()) {
    const rates = book.ratesAt(llm, startedAtUs, serviceOf(provider, [tier]));
    for (const prices of rates === null ? [] : pricesUpTo(rates, most.input)) {
      const cost = costAt(prices, most);
      if (cost !== null && (dearest === null || cost > dearest)) dearest = cost;
    }
    if (index === 0 && dearest === null) return null;
  }
  return dearest;
}

/** The prices of all sizes up to this one: the input may be smaller. */
function pricesUpTo({ base, tiers }: Rates, input: number): readonly TokenPrices[] {
  return [base, ...tiers.filter(({ aboveTokens }) => input > aboveTokens).map(({ prices }) => prices)];
}

/** Units in which a response may report searches, so that their price must be known. */
const SEARCHES: ReadonlySet<string> = new Set<Unit>(["web_searches", "storage_searches", "social_searches"]);
/** Units that some models are charged by instead of tokens. */
const INSTEAD_OF_TOKENS = ["input_audio_seconds", "rerank_searches"] as const;
const OUTPUTS = ["audio", "image", "video", "reasoning", "citation"] as const;

/** Null if a price is unknown. */
function costAt(prices: TokenPrices, most: MostUsed): bigint | null {
  const { units = {}, request = 0 } = prices;
  const isByUnit = INSTEAD_OF_TOKENS.some(
    (unit) => most.units[unit] !== undefined && units[unit] !== undefined,
  );
  const input = highest(
    prices.prompt,
    prices.cacheRead,
    prices.cacheCreation,
    units.cache_write_1h_tokens,
    ...most.inputKinds.flatMap((kind) => [
      units[`input_${kind}_tokens`],
      kind === "video" ? undefined : units[`cache_${kind}_read_tokens`],
    ]),
  );
  const output = highest(prices.completion, ...OUTPUTS.map((kind) => units[`output_${kind}_tokens`]));
  const fallback = isByUnit ? 0 : null;
  const lines: (readonly [count: number, price: number | null])[] = [
    [1, request],
    [most.input, input ?? fallback],
    [most.output, output ?? fallback],
  ];
  for (const [unit, count] of Object.entries(most.units) as [Unit, number][])
    lines.push([count, units[unit] ?? (SEARCHES.has(unit) ? null : 0)]);
  let cost = 0n;
  for (const [count, price] of lines) {
    if (count === 0) continue;
    if (price === null) return null;
    cost += BigInt(count) * attodollarsOf(price);
  }
  return cost;
}

function highest(...prices: readonly (number | null | undefined)[]): number | null {
  const known = prices.filter((price) => price != null);
  return known.length === 0 ? null : Math.max(...known);
}
