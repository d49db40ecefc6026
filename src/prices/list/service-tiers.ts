import type { ListedModel } from "./price-list.ts";
import { exact, picodollars } from "../picodollars.ts";
import type { Rates, Schedule, TokenPrices } from "../rates.ts";
import { corrections, type TierPrice } from "./corrections.ts";
import { pricedUnits, type UnitPrices } from "../units.ts";
import type { Unit } from "../../usage/units.ts";

type PricesAtTier = Extract<TierPrice, { prices: unknown }>["prices"][string];

/** The search context, which only matters at Perplexity, and only for the fee. */
const searchContexts = ["low_context", "medium_context"];

/** Our own name for what a provider has served without charging it. */
const UNBILLED = "unbilled";
const units = Object.fromEntries(Object.keys(pricedUnits).map((unit) => [unit, 0]));
/** The rates of what is not charged. */
export const FREE: Rates = {
  base: { prompt: 0, completion: 0, cacheRead: 0, cacheCreation: 0, units },
  tiers: [],
};

/** Whether what was served at this tier is not charged, whatever the model. */
export function isUnbilled(tier: string): boolean {
  return tier.split("+").includes(UNBILLED);
}

/** Whether a tier costs the list price at a provider of the list. */
export function isUsualTier(tier: string, provider: string | undefined): boolean {
  if (tier === "" || (searchContexts.includes(tier) && provider !== "perplexity")) return true;
  return corrections.list_price_tiers.some((one) => one.provider === provider && one.tiers.includes(tier));
}

/** Whether a price set for the standard tier also applies to this one. */
export function includesTier(tier: string, provider: string | undefined): boolean {
  return isUsualTier(tier, provider) || searchContexts.includes(tier);
}

/** The prices over time of a listed model at a tier; null if unknown. The factors of a tier with several names multiply. */
export function scheduleAtTier(listed: ListedModel, tier: string): Schedule | null {
  if (isUsualTier(tier, listed.provider)) return listed.schedule;
  let schedule: Schedule = listed.schedule;
  for (const name of tier.split("+")) {
    const known = corrections.tiers.find((one) => holdsFor(one, listed, name));
    if (known !== undefined) schedule = atTier(schedule, known, listed.model);
    else if (!searchContexts.includes(name)) return null;
  }
  return schedule;
}

function holdsFor(known: TierPrice, { provider, model }: ListedModel, tier: string): boolean {
  if (known.provider !== provider || !known.tiers.includes(tier)) return false;
  if ("factor" in known) return known.matching?.test(model) ?? true;
  return Object.hasOwn("prices" in known ? known.prices : known.requests_kcount, model);
}

function atTier(schedule: Schedule, known: TierPrice, model: string): Schedule {
  return {
    ratesAt(atUs) {
      const rates = schedule.ratesAt(atUs);
      if (rates === null) return null;
      if ("factor" in known) return scaled(rates, known.factor);
      return "prices" in known
        ? ratesOf(known.prices[model]!, rates)
        : withFee(known.requests_kcount[model]!, rates);
    },
    sinceAt: (atUs) => schedule.sinceAt(atUs),
    steadyUntil: (atUs) => schedule.steadyUntil(atUs),
  };
}

/** A different fee per request, in USD per thousand. */
function withFee(usd: number, { base, tiers }: Rates): Rates {
  const request = picodollars(usd, 1_000);
  return {
    base: { ...base, request },
    tiers: tiers.map(({ aboveTokens, prices }) => ({ aboveTokens, prices: { ...prices, request } })),
  };
}

/** A factor on all tokens. Units that are not tokens cost the same. */
function scaled(rates: Rates, factor: number): Rates {
  return {
    base: scaledPrices(rates.base, factor),
    tiers: rates.tiers.map(({ aboveTokens, prices }) => ({
      aboveTokens,
      prices: scaledPrices(prices, factor),
    })),
  };
}

function scaledPrices(prices: TokenPrices, factor: number): TokenPrices {
  const times = (price: number | null): number | null => (price === null ? null : exact(price * factor));
  return {
    ...prices,
    prompt: times(prices.prompt),
    completion: times(prices.completion),
    cacheRead: times(prices.cacheRead),
    cacheCreation: times(prices.cacheCreation),
    ...(prices.units !== undefined && { units: scaledUnits(prices.units, factor) }),
  };
}

function scaledUnits(units: UnitPrices, factor: number): UnitPrices {
  return Object.fromEntries(
    Object.entries(units).map(([unit, price]) => [
      unit,
      pricedUnits[unit as Unit].cost === "other" ? price : exact(price * factor),
    ]),
  );
}

/** A tier's own prices. Token units that the list prices differently have no price at this tier. */
function ratesOf(own: PricesAtTier, listed: Rates): Rates {
  const { input_mtok: input, cache_read_mtok: cachedInput = input, output_mtok: output } = own;
  const perToken = (usd: number): number => picodollars(usd, 1_000_000);
  const base = pricesOf(
    { prompt: perToken(input), completion: perToken(output), cacheRead: perToken(cachedInput) },
    listed.base,
  );
  const unknown = pricesOf({ prompt: null, completion: null, cacheRead: null }, listed.base);
  return { base, tiers: listed.tiers.map(({ aboveTokens }) => ({ aboveTokens, prices: unknown })) };
}

function pricesOf(
  tokens: Pick<TokenPrices, "prompt" | "completion" | "cacheRead">,
  { units = {} }: TokenPrices,
): TokenPrices {
  const others = Object.entries(units).filter(([unit]) => pricedUnits[unit as Unit].cost === "other");
  return { ...tokens, cacheCreation: tokens.prompt, units: Object.fromEntries(others) };
}
