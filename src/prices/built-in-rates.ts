import type { ModelPrice, TieredPrices } from "@pydantic/genai-prices";
import { picodollars } from "./picodollars.ts";
import type { Rates, TokenPrices } from "./rates.ts";

/** A price of the built-in list, USD per million tokens: flat, or with tiers on the size of the request. */
type ListedPrice = number | TieredPrices | undefined;

interface ListedTokenPrices {
  readonly prompt: ListedPrice;
  readonly completion: ListedPrice;
  readonly cacheRead: ListedPrice;
  readonly cacheCreation: ListedPrice;
}

/**
 * The token prices of one entry of the built-in list; null when it has none (priced by the hour or the page, or
 * listed without a price). A missing cache price is the prompt price.
 */
export function ratesOfListedPrice(listed: ModelPrice): Rates | null {
  const { input_mtok: prompt, output_mtok: completion } = listed;
  if (prompt === undefined && completion === undefined) return null;
  const cacheRead = listed["cache_read_mtok"] ?? prompt;
  const cacheCreation = listed["cache_write_mtok"] ?? prompt;
  const prices: ListedTokenPrices = { prompt, completion, cacheRead, cacheCreation };
  const steps = new Set(
    Object.values(prices).flatMap((price) =>
      typeof price === "object" ? price.tiers.map((tier: { start: number }) => tier.start) : [],
    ),
  );
  return {
    base: pricesAbove(prices, -1),
    tiers: [...steps]
      .sort((left, right) => left - right)
      .map((aboveTokens) => ({ aboveTokens, prices: pricesAbove(prices, aboveTokens) })),
  };
}

/** Nothing costs anything: for models listed as free. */
export const freeRates: Rates = {
  base: { prompt: 0, completion: 0, cacheRead: 0, cacheCreation: 0 },
  tiers: [],
};

function pricesAbove(prices: ListedTokenPrices, step: number): TokenPrices {
  return {
    prompt: priceAbove(prices.prompt, step),
    completion: priceAbove(prices.completion, step),
    cacheRead: priceAbove(prices.cacheRead, step),
    cacheCreation: priceAbove(prices.cacheCreation, step),
  };
}

function priceAbove(price: ListedPrice, step: number): number | null {
  return price === undefined ? null : picodollars(listedAbove(price, step), 1_000_000);
}

function listedAbove(price: number | TieredPrices, step: number): number {
  if (typeof price === "number") return price;
  let current = price.base;
  let reached = -1;
  for (const tier of price.tiers) {
    if (tier.start <= step && tier.start > reached) {
      current = tier.price;
      reached = tier.start;
    }
  }
  return current;
}
