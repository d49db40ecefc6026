import type { Unit } from "../../usage/units.ts";
import { picodollars } from "../picodollars.ts";
import type { Rates } from "../rates.ts";
import { inPeriods, type InForce, type Schedule } from "../schedule.ts";
import type { UnitPrices } from "../units.ts";

/** A price set by a project. Costs in USD per token. */
export interface ProjectPrice {
  readonly id: string;
  /** Microseconds since the epoch. */
  readonly effectiveAtUs: number;
  readonly createdAtMs: number;
  readonly llm_id: string;
  /** A note of the project; "default" without one. */
  readonly provider_id: string;
  readonly prompt_token_cost: number;
  readonly completion_token_cost: number;
  /** `null`: not set, so the prompt price applies. */
  readonly cache_read_input_token_cost: number | null;
  readonly cache_creation_input_token_cost: number | null;
  /** The service tier of the price; '' for the standard one. */
  readonly service_tier: string;
  /** USD for one of each unit, and for one of `requests`. A unit that is not set costs the same as the count it belongs to. */
  readonly unit_costs: UnitCosts;
}

export type UnitCosts = { readonly [Name in Unit | "requests"]?: number | undefined };

/** The price of a project in force at an instant; null: none. */
export interface ProjectInForce extends InForce {
  readonly price: ProjectPrice | null;
}
/** A project's prices of one LLM and tier over time. */
export type ProjectSchedule = Schedule<ProjectInForce>;

/** A project's own prices by LLM id and service tier: see `scheduleKey`. */
export type ProjectSchedules = ReadonlyMap<string, ProjectSchedule>;

export function scheduleKey(llmId: string, tier: string): string {
  return `${tier}\n${llmId}`;
}

/** Prices set by a project. The latest effective date applies; of equal dates, the one set last. */
export function projectSchedules(prices: readonly ProjectPrice[]): ProjectSchedules {
  const byKey = Map.groupBy(prices, (price) => scheduleKey(price.llm_id, price.service_tier));
  return new Map([...byKey].map(([key, own]) => [key, datedSchedule(own)]));
}

/** No price, and none to come. */
export const NO_PRICE: ProjectInForce = { rates: null, price: null, sinceUs: null, untilUs: Infinity };

function datedSchedule(prices: readonly ProjectPrice[]): ProjectSchedule {
  const periods = prices.toSorted(byPrecedence).map((price) => {
    const always = { ...NO_PRICE, rates: ratesOfProjectPrice(price), price };
    return { fromUs: price.effectiveAtUs, schedule: () => always };
  });
  return inPeriods(() => NO_PRICE, periods);
}

/** Sorts prices so that the last one in effect applies: the one with the latest date, and of those the one set last. */
function byPrecedence(left: ProjectPrice, right: ProjectPrice): number {
  return (
    left.effectiveAtUs - right.effectiveAtUs ||
    left.createdAtMs - right.createdAtMs ||
    (left.id < right.id ? -1 : 1)
  );
}

function ratesOfProjectPrice(price: ProjectPrice): Rates {
  const prompt = price.prompt_token_cost;
  const { requests, ...units } = price.unit_costs;
  const unitPrices = Object.entries(units).flatMap(([unit, usd]) =>
    usd === undefined ? [] : [[unit, picodollars(usd, 1)] as const],
  );
  return {
    base: {
      prompt: picodollars(prompt, 1),
      completion: picodollars(price.completion_token_cost, 1),
      cacheRead: picodollars(price.cache_read_input_token_cost ?? prompt, 1),
      cacheCreation: picodollars(price.cache_creation_input_token_cost ?? prompt, 1),
      ...(unitPrices.length > 0 && { units: Object.fromEntries(unitPrices) as UnitPrices }),
      ...(requests !== undefined && { request: picodollars(requests, 1) }),
    },
    tiers: [],
  };
}
