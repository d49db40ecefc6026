import { attodollarsOf } from "../../prices/money.ts";
import type { Rates, TokenPrices } from "../../prices/rates.ts";
import type { Unit } from "../../usage/units.ts";
import type { MostUsed } from "./most-used.ts";

/**
 * Returns the cost of the most that a model can use, in 10^-18 USD: the highest at any of the rates and any size of the input.
 * Null if a price is unknown at the first of the rates.
 */
export function dearestCost(most: MostUsed, [first, ...others]: readonly (Rates | null)[]): bigint | null {
  const dearest = costAt(first!, most);
  if (dearest === null) return null;
  return others.reduce((cost, rates) => {
    const other = costAt(rates, most);
    return other !== null && other > cost ? other : cost;
  }, dearest);
}

/** The input may be smaller, and then cheaper or dearer. */
function costAt(rates: Rates | null, most: MostUsed): bigint | null {
  if (rates === null) return null;
  const reached = rates.tiers.filter(({ aboveTokens }) => most.input > aboveTokens);
  const costs = [rates.base, ...reached.map(({ prices }) => prices)].map((prices) => costOf(prices, most));
  return costs.reduce((one, other) => (one === null || (other !== null && other > one) ? other : one));
}

/** Units in which a response may report searches, so that their price must be known. */
const SEARCHES: ReadonlySet<string> = new Set<Unit>(["web_searches", "storage_searches", "social_searches"]);
/** Units that some models are charged by instead of tokens. */
const INSTEAD_OF_TOKENS = ["input_audio_seconds", "rerank_searches"] as const;
const OUTPUTS = ["audio", "image", "video", "reasoning", "citation"] as const;

function costOf(prices: TokenPrices, most: MostUsed): bigint | null {
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
