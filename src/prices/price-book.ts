import type { PricedUsage, Service } from "../usage/usage.ts";
import type { PriceList } from "./list/price-list.ts";
import type { CallCost } from "./cost-fields.ts";
import { costOfCall } from "./cost-of-call.ts";
import { listProviderOf } from "./list/model-names.ts";
import type { ListedModel } from "./list/list-entries.ts";
import { projectPriceNames } from "./project/project-price-names.ts";
import {
  NO_PRICE,
  scheduleKey,
  type ProjectInForce,
  type ProjectPrice,
  type ProjectSchedule,
  type ProjectSchedules,
} from "./project/project-prices.ts";
import type { Rates } from "./rates.ts";
import type { InForce } from "./schedule.ts";
import { FREE, includesTier, isUnbilled, knownTiers, scheduleAtTier } from "./list/service-tiers.ts";

/** All prices of one project at the time the book was opened. One book serves one response. */
export interface PriceBook {
  /**
   * The cost of what a call used of an LLM, at the price that was in force when it started (µs since the epoch) for its
   * provider and tier: the project's own price, or else the built-in one. Cost: one or two look-ups and four
   * multiplications once the LLM is known.
   */
  cost(llmId: string, startedAtUs: number, usage: PricedUsage): CallCost;
  /** The rates that `cost` uses. */
  ratesAt(llmId: string, startedAtUs: number, service: Service | undefined): Rates | null;
  /** These rates hold from an instant until this later one, or longer. */
  nextPriceChange(llmId: string, atUs: number, service: Service | undefined): number;
  /** The price used for that; null if none is known. */
  priceOf(llmId: string, startedAtUs: number, service: Service | undefined): FoundPrice | null;
  /** The service tiers, besides the standard one, at which an LLM has a price of its own. */
  tiersOf(llmId: string, provider: string): readonly string[];
  /** The context window of an LLM in tokens, at this provider or any; null if the list does not tell. */
  contextWindowOf(llmId: string, provider: string): number | null;
}

/** A price and its source. */
export interface FoundPrice {
  readonly rates: Rates;
  readonly origin:
    | { readonly source: "unbilled" }
    | { readonly source: "project"; readonly price: ProjectPrice }
    | { readonly source: "list"; readonly listed: ListedModel; readonly sinceUs: number | null };
}

export interface BookOptions {
  readonly list: PriceList;
  readonly project: ProjectSchedules;
  /** Called with LLM ids that have no price: once per id and book, and again after many others. */
  readonly onUnknown?: (llmId: string) => void;
}

/** The number of LLM ids that a book keeps. Ids come from calls, so there can be any number of them. */
const maxSchedules = 10_000;

const UNBILLED: InForce = { ...NO_PRICE, rates: FREE };

const unknownService: Service = { provider: "", tier: "" };

export function createPriceBook(options: BookOptions): PriceBook {
  const plain = new Map<string, Prices>();
  const served = new Map<string, Prices>();
  const unknown = new Set<string>();
  const pricesOf = (llmId: string, service: Service | undefined): Prices => {
    const known = service === undefined ? plain : served;
    const key = service === undefined ? llmId : `${service.provider}\n${service.tier}\n${llmId}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= maxSchedules) known.clear();
    const prices = new Prices(llmId, service ?? unknownService, options);
    known.set(key, prices);
    return prices;
  };
  const reportUnknown = (llmId: string): void => {
    if (options.onUnknown === undefined || unknown.has(llmId)) return;
    if (unknown.size >= maxSchedules) unknown.clear();
    unknown.add(llmId);
    options.onUnknown(llmId);
  };
  const ratesAt: PriceBook["ratesAt"] = (llmId, startedAtUs, service) => {
    const { rates } = pricesOf(llmId, service).at(startedAtUs);
    if (rates === null) reportUnknown(llmId);
    return rates;
  };
  const { list, project } = options;
  const ownTiers = new Set([...project.keys()].map((key) => key.slice(0, key.indexOf("\n"))));
  return {
    tiersOf(llmId, provider) {
      const listed = list.find(llmId, provider);
      const own = [...ownTiers].filter(
        (tier) => tier !== "" && ownSchedules(llmId, tier, project).length > 0,
      );
      return [...(listed === null ? [] : knownTiers(listed)), ...own];
    },
    contextWindowOf: (llmId, provider) =>
      list.find(llmId, provider)?.contextWindow ?? list.find(llmId)?.contextWindow ?? null,
    cost: (llmId, startedAtUs, usage) => costOfCall(usage, ratesAt(llmId, startedAtUs, usage.service)),
    ratesAt,
    nextPriceChange: (llmId, atUs, service) => pricesOf(llmId, service).at(atUs).untilUs,
    priceOf: (llmId, startedAtUs, service) => pricesOf(llmId, service).find(startedAtUs),
  };
}

/** The prices of one LLM at one service over time. */
class Prices {
  readonly #own: readonly ProjectSchedule[];
  readonly #listed: ListedModel | undefined;
  readonly #isFree: boolean;

  constructor(llmId: string, { provider, tier }: Service, { list, project }: BookOptions) {
    const listed = list.find(llmId, provider);
    const seller = listProviderOf(provider)?.id ?? listed?.provider;
    const tiers = tier !== "" && includesTier(tier, seller) ? [tier, ""] : [tier];
    const schedule = listed === null ? null : scheduleAtTier(listed, tier);
    this.#own = project.size === 0 ? [] : tiers.flatMap((one) => ownSchedules(llmId, one, project));
    this.#listed = listed === null || schedule === null ? undefined : { ...listed, schedule };
    this.#isFree = isUnbilled(tier);
  }

  at(atUs: number): InForce {
    if (this.#isFree) return UNBILLED;
    const own = this.#ownAt(atUs);
    if (own.price !== null) return own;
    const listed = this.#listed?.schedule(atUs) ?? NO_PRICE;
    return own.untilUs < listed.untilUs ? { ...listed, untilUs: own.untilUs } : listed;
  }

  find(atUs: number): FoundPrice | null {
    const { rates, sinceUs } = this.at(atUs);
    if (rates === null) return null;
    if (this.#isFree) return { rates, origin: { source: "unbilled" } };
    const { price } = this.#ownAt(atUs);
    if (price !== null) return { rates, origin: { source: "project", price } };
    return { rates, origin: { source: "list", listed: this.#listed!, sinceUs } };
  }

  /** The first of the project's prices, or that it has none yet. */
  #ownAt(atUs: number): ProjectInForce {
    let untilUs = Infinity;
    for (const schedule of this.#own) {
      const own = schedule(atUs);
      untilUs = Math.min(untilUs, own.untilUs);
      if (own.price !== null) return { ...own, untilUs };
    }
    return untilUs === Infinity ? NO_PRICE : { ...NO_PRICE, untilUs };
  }
}

function ownSchedules(llmId: string, tier: string, project: ProjectSchedules): readonly ProjectSchedule[] {
  return [...projectPriceNames(llmId)]
    .map((id) => project.get(scheduleKey(id, tier)))
    .filter((schedule) => schedule !== undefined);
}
