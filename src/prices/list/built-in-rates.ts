import type { ModelPrice, TieredPrices } from "@pydantic/genai-prices";
import { picodollars } from "../picodollars.ts";
import type { Rates, TokenPrices } from "../rates.ts";
import { unitNames, type Unit } from "../../usage/units.ts";
import { pricedUnits, wholeOfCached, type UnitPrices } from "../units.ts";

/** A price of the built-in list, in USD per million tokens: flat, or in tiers by the size of the request. */
type ListedPrice = number | TieredPrices | undefined;

/**
 * The prices of one entry of the built-in list; null if it prices nothing that calls report. Without a cache price, the
 * prompt price applies.
 */
export function ratesOfListedPrice(listed: ModelPrice): Rates | null {
  const names = ["input_mtok", "output_mtok", ...unitNames.map((unit) => pricedUnits[unit].priceKey)];
  if (names.every((name) => listed[name] === undefined)) return null;
  const steps = new Set(
    Object.values(listed).flatMap((price) =>
      typeof price === "object" ? price.tiers.map((tier: { start: number }) => tier.start) : [],
    ),
  );
  return {
    base: pricesAbove(listed, -1),
    tiers: [...steps]
      .sort((left, right) => left - right)
      .map((aboveTokens) => ({ aboveTokens, prices: pricesAbove(listed, aboveTokens) })),
  };
}

/** All prices are 0: for models listed as free. */
export const freeRates: Rates = {
  base: { prompt: 0, completion: 0, cacheRead: 0, cacheCreation: 0 },
  tiers: [],
};

function pricesAbove(listed: ModelPrice, step: number): TokenPrices {
  const { input_mtok: input, output_mtok: output, requests_kcount: request } = listed;
  const perToken = (price: ListedPrice): number | null =>
    price === undefined ? null : picodollars(listedAbove(price, step), 1_000_000);
  const units = unitPricesAbove(listed, step);
  return {
    prompt: perToken(input),
    completion: perToken(output),
    cacheRead: perToken(listed["cache_read_mtok"] ?? input),
    cacheCreation: perToken(listed["cache_write_mtok"] ?? input),
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

function listedAbove(price: number | TieredPrices, step: number): number {
  if (typeof price === "number") return price;
  const reached = price.tiers.filter(({ start }) => start <= step);
  return reached.sort((left, right) => right.start - left.start)[0]?.price ?? price.base;
}
