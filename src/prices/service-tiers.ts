import type { ListedModel } from "./price-list.ts";
import { picodollars } from "./picodollars.ts";
import type { Rates, Schedule, TokenPrices } from "./rates.ts";
import { pricedUnits, type UnitPrices } from "./units.ts";
import type { Unit } from "../usage/units.ts";

/** USD per million tokens. */
type Prices = readonly [input: number, cachedInput: number | null, output: number];

/** What a provider charges at a tier: a factor on all tokens, or prices of its own for some models. */
interface TierPrice {
  /** A provider id of the list. */
  readonly provider: string;
  readonly tier: string;
  /** Where the provider publishes it, and the day somebody last looked. */
  readonly source: string;
  readonly checked: string;
  readonly factor?: number;
  /** By the list's ids. They do not hold for requests above a bound from which the list charges more. */
  readonly models?: Readonly<Record<string, Prices>>;
}

/** Tiers that are the list price at one provider, and something else at others. */
const usualAt: Readonly<Record<string, readonly string[]>> = {
  // https://console.groq.com/docs/flex-processing: the same price as on demand. Seen 2026-11-22.
  groq: ["flex"],
};

const openaiPriority: Readonly<Record<string, Prices>> = {
  "gpt-5.5": [12.5, 1.25, 75],
  "gpt-5.4": [5, 0.5, 30],
  "gpt-5.4-mini": [1.5, 0.15, 9],
  "gpt-5.2": [3.5, 0.35, 28],
  "gpt-5.1": [2.5, 0.25, 20],
  "gpt-5": [2.5, 0.25, 20],
  "gpt-5-mini": [0.45, 0.045, 3.6],
  "gpt-5.1-codex": [2.5, 0.25, 20],
  "gpt-5-codex": [2.5, 0.25, 20],
  "gpt-4.1": [3.5, 0.875, 14],
  "gpt-4.1-mini": [0.7, 0.175, 2.8],
  "gpt-4.1-nano": [0.2, 0.05, 0.8],
  "gpt-4o": [4.25, 2.125, 17],
  "gpt-4o-2024-05-13": [8.75, null, 26.25],
  "gpt-4o-mini": [0.25, 0.125, 1],
};

/** What is known of tiers that cost otherwise. A tier that is not here has no price, unless a project sets one. */
export const tierPrices: readonly TierPrice[] = [
  {
    provider: "openai",
    tier: "flex",
    source:
      "https://developers.openai.com/api/docs/guides/flex-processing: at the rates of the Batch API, half",
    checked: "2026-11-22",
    factor: 0.5,
  },
  {
    provider: "openai",
    tier: "batch",
    source: "https://developers.openai.com/api/docs/guides/batch",
    checked: "2026-11-22",
    factor: 0.5,
  },
  {
    provider: "openai",
    tier: "priority",
    source: "https://openai.com/api-priority-processing",
    checked: "2026-11-22",
    models: openaiPriority,
  },
  {
    provider: "anthropic",
    tier: "batch",
    source: "https://platform.claude.com/docs/en/build-with-claude/batch-processing",
    checked: "2026-11-22",
    factor: 0.5,
  },
];

/** Whether a tier costs what the list says, at a provider of the list. */
export function isUsualTier(tier: string, provider: string | undefined): boolean {
  return tier === "" || (provider !== undefined && (usualAt[provider] ?? []).includes(tier));
}

/** What a listed model costs at a tier over time; null where nobody has told. */
export function scheduleAtTier(listed: ListedModel, tier: string): Schedule | null {
  if (isUsualTier(tier, listed.provider)) return listed.schedule;
  const known = tierPrices.find((one) => one.provider === listed.provider && one.tier === tier);
  if (known === undefined) return null;
  const prices = known.models?.[listed.model];
  const { factor } = known;
  if (factor === undefined && prices === undefined) return null;
  return {
    ratesAt(atMs) {
      const rates = listed.schedule.ratesAt(atMs);
      if (rates === null) return null;
      return prices === undefined ? scaled(rates, factor!) : ratesOf(prices, rates);
    },
    sinceAt: (atMs) => listed.schedule.sinceAt(atMs),
  };
}

/** All tokens at a factor; what is no token costs the same. */
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
  const times = (price: number | null): number | null => (price === null ? null : price * factor);
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
      pricedUnits[unit as Unit].cost === "other" ? price : price * factor,
    ]),
  );
}

/** Prices of a tier's own. The units of tokens that the list prices otherwise have none at this tier. */
function ratesOf([input, cachedInput, output]: Prices, listed: Rates): Rates {
  const perToken = (usd: number): number => picodollars(usd, 1_000_000);
  const base = pricesOf(
    { prompt: perToken(input), completion: perToken(output), cacheRead: perToken(cachedInput ?? input) },
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
