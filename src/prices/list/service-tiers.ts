import type { ListedModel } from "./list-entries.ts";
import { exact, picodollars } from "../picodollars.ts";
import type { Rates, TokenPrices } from "../rates.ts";
import type { Schedule } from "../schedule.ts";
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
export function isStandardTier(tier: string, provider: string | undefined): boolean {
  if (tier === "" || (searchContexts.includes(tier) && provider !== "perplexity")) return true;
  return corrections.list_price_tiers.some((one) => one.provider === provider && one.tiers.includes(tier));
}

/** Whether a price set for the standard tier also applies to this one. */
export function includesTier(tier: string, provider: string | undefined): boolean {
  return isStandardTier(tier, provider) || searchContexts.includes(tier);
}

/** The prices over time of a listed model at a tier; null if unknown. The factors of a tier with several names multiply. */
export function scheduleAtTier(listed: ListedModel, tier: string): Schedule | null {
  if (isStandardTier(tier, listed.provider)) return listed.schedule;
  let { schedule } = listed;
  for (const name of tier.split("+")) {
    const known = corrections.tiers.find((one) => holdsFor(one, listed, name));
    if (known !== undefined) schedule = atTier(schedule, known, listed.model);
    else if (!searchContexts.includes(name)) return null;
  }
  return schedule;
}

/** The tiers, besides the standard one, at which the prices of a listed model are known. */
export function knownTiers(listed: ListedModel): readonly string[] {
  return corrections.tiers.flatMap((one) => one.tiers.filter((tier) => holdsFor(one, listed, tier)));
}

function holdsFor(known: TierPrice, { provider, model }: ListedModel, tier: string): boolean {
  if (known.provider !== provider || !known.tiers.includes(tier)) return false;
  if ("factor" in known) return known.matching?.test(model) ?? true;
  return Object.hasOwn("prices" in known ? known.prices : known.requests_kcount, model);
}

function atTier(schedule: Schedule, known: TierPrice, model: string): Schedule {
  return (atUs) => {
    const listed = schedule(atUs);
    return listed.rates === null ? listed : { ...listed, rates: ratesAtTier(listed.rates, known, model) };
  };
}

function ratesAtTier(listed: Rates, known: TierPrice, model: string): Rates {
  if ("factor" in known) return withPrices(listed, (prices) => scaled(prices, known.factor));
  if ("prices" in known) return ratesOf(known.prices[model]!, listed);
  // a different fee per request, in USD per thousand
  const request = picodollars(known.requests_kcount[model]!, 1_000);
  return withPrices(listed, (prices) => ({ ...prices, request }));
}

function withPrices({ base, tiers }: Rates, change: (prices: TokenPrices) => TokenPrices): Rates {
  return { base: change(base), tiers: tiers.map((tier) => ({ ...tier, prices: change(tier.prices) })) };
}

/** A factor on all tokens. Units that are not tokens cost the same. */
function scaled(prices: TokenPrices, factor: number): TokenPrices {
  const times = (price: number | null): number | null => (price === null ? null : exact(price * factor));
  const ofUnit = ([unit, price]: [string, number]) =>
    [unit, isOther(unit) ? price : exact(price * factor)] as const;
  return {
    ...prices,
    prompt: times(prices.prompt),
    completion: times(prices.completion),
    cacheRead: times(prices.cacheRead),
    cacheCreation: times(prices.cacheCreation),
    ...(prices.units !== undefined && {
      units: Object.fromEntries(Object.entries(prices.units).map(ofUnit)),
    }),
  };
}

/** A tier's own prices. Token units that the list prices differently have no price at this tier. */
function ratesOf(own: PricesAtTier, listed: Rates): Rates {
  const perToken = (usd: number): number => picodollars(usd, 1_000_000);
  const others = Object.entries(listed.base.units ?? {}).filter(([unit]) => isOther(unit));
  const units: UnitPrices = Object.fromEntries(others);
  const prompt = perToken(own.input_mtok);
  const base = {
    prompt,
    completion: perToken(own.output_mtok),
    cacheRead: perToken(own.cache_read_mtok ?? own.input_mtok),
    cacheCreation: prompt,
    units,
  };
  const unknown = { prompt: null, completion: null, cacheRead: null, cacheCreation: null, units };
  return { base, tiers: listed.tiers.map((tier) => ({ ...tier, prices: unknown })) };
}

function isOther(unit: string): boolean {
  return pricedUnits[unit as Unit].cost === "other";
}
