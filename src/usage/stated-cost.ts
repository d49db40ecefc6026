import { isJsonObject } from "../shared/json.ts";
import type { UnitCounts } from "./units.ts";

type Json = Readonly<Record<string, unknown>>;

/** Sum of stated costs, in ticks of 10^-10 USD (the unit of xAI), and the number of usages that state one. */
export interface StatedCost {
  readonly ticks: number;
  readonly usages: number;
}

const TICKS_PER_USD = 1e10;
/** No response costs 900,000 USD. Larger numbers of ticks would not be exact. */
const MAX_TICKS = 9e15;

/**
 * Reads the cost that a usage entry states, in ticks: xAI's `cost_in_usd_ticks`, Perplexity's `cost.total_cost`, or
 * OpenRouter's `cost`, which with a key of one's own (`is_byok`) is only the fee, beside what the upstream charges.
 * `undefined` if it states none, or no credible one.
 */
export function statedTicksIn(entry: Json): number | undefined {
  const { cost, cost_in_usd_ticks: ticks, is_byok: isOwnKey, cost_details: details } = entry;
  if (ticks != null) return credible(ticks);
  if (isJsonObject(cost)) return ticksOf(cost["total_cost"]);
  if (isOwnKey !== true) return ticksOf(cost);
  const [fee, upstream] = [
    ticksOf(cost ?? 0),
    ticksOf(isJsonObject(details) && details["upstream_inference_cost"]),
  ];
  return fee === undefined || upstream === undefined ? undefined : credible(fee + upstream);
}

/** Converts USD; `undefined` for what is no credible cost. */
export function ticksOf(usd: unknown): number | undefined {
  return typeof usd === "number" ? credible(Math.round(usd * TICKS_PER_USD)) : undefined;
}

function credible(ticks: unknown): number | undefined {
  return typeof ticks === "number" && ticks >= 0 && ticks <= MAX_TICKS && Number.isInteger(ticks)
    ? ticks
    : undefined;
}

/** A stated cost as units; `undefined` if there is none. */
export function statedUnitsOf(ticks: number | undefined): UnitCounts | undefined {
  if (ticks === undefined) return undefined;
  return { ...(ticks > 0 && { stated_ticks: ticks }), stated_usages: 1 };
}

/** The stated cost among units; `undefined` if nothing is stated. */
export function statedCostOf(units: UnitCounts | undefined): StatedCost | undefined {
  if (units?.stated_ticks === undefined && units?.stated_usages === undefined) return undefined;
  return { ticks: units.stated_ticks ?? 0, usages: units.stated_usages ?? 0 };
}

/** The stated cost among units in USD; null if nothing is stated. */
export function statedUsdOf(units: UnitCounts | undefined): number | null {
  const stated = statedCostOf(units);
  return stated === undefined ? null : stated.ticks / TICKS_PER_USD;
}
