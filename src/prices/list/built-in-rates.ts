import type { ModelPrice, TieredPrices } from "@pydantic/genai-prices";
import { picodollars } from "../picodollars.ts";
import type { Rates, TokenPrices } from "../rates.ts";
import { unitNames, type Unit } from "../../usage/units.ts";
import { pricedUnits, wholeOfCached, type UnitPrices } from "../units.ts";

/** A price of the built-in list, in USD per million tokens: flat, or in tiers by the size of the request. */
type ListedPrice = number | TieredPrices | undefined;

interface ListedPrices {
  readonly prompt: ListedPrice;
  readonly completion: ListedPrice;
  readonly cacheRead: ListedPrice;
  readonly cacheCreation: ListedPrice;
  readonly listed: ModelPrice;
}

/**
 * The prices of one entry of the built-in list; null if it prices nothing that calls report. Without a cache price, the
 * prompt price applies.
 */
export function ratesOfListedPrice(listed: ModelPrice): Rates | null {
  const { input_mtok: prompt, output_mtok: completion } = listed;
  const isPriced = unitNames.some((unit) => listed[pricedUnits[unit].priceKey] !== undefined);
  if (prompt === undefined && completion === undefined && !isPriced) return null;
  const cacheRead = listed["cache_read_mtok"] ?? prompt;
  const cacheCreation = listed["cache_write_mtok"] ?? prompt;
  const prices: ListedPrices = { prompt, completion, cacheRead, cacheCreation, listed };
  const steps = new Set(
    Object.values(listed).flatMap((price) =>
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

/** All prices are 0: for models listed as free. */
export const freeRates: Rates = {
  base: { prompt: 0, completion: 0, cacheRead: 0, cacheCreation: 0 },
  tiers: [],
};

function pricesAbove(prices: ListedPrices, step: number): TokenPrices {
  const units = unitPricesAbove(prices.listed, step);
  const request = prices.listed["requests_kcount"];
  return {
    prompt: priceAbove(prices.prompt, step),
    completion: priceAbove(prices.completion, step),
    cacheRead: priceAbove(prices.cacheRead, step),
    cacheCreation: priceAbove(prices.cacheCreation, step),
    ...(Object.keys(units).length === 0 ? {} : { units }),
    ...(request === undefined ? {} : { request: picodollars(listedAbove(request, step), 1_000) }),
  };
}

function unitPricesAbove(listed: ModelPrice, step: number): UnitPrices {
  const priced = unitNames.flatMap((unit) => {
    const { priceKey, per } = pricedUnits[unit];
    const price = listed[priceKey] ?? priceOfWhole(unit, listed);
    return price === undefined ? [] : [[unit, picodollars(listedAbove(price, step), per)]];
  });
  return Object.fromEntries(priced) as UnitPrices;
}

/** If the list has no price for cached tokens at all, cached audio costs the same as audio. */
function priceOfWhole(unit: Unit, listed: ModelPrice): ListedPrice {
  const whole = wholeOfCached[unit];
  if (whole === undefined || listed["cache_read_mtok"] !== undefined) return undefined;
  return listed[pricedUnits[whole].priceKey];
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
