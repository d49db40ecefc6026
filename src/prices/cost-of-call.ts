import { usesNothing, type PricedUsage, type Usage } from "../usage/usage.ts";
import { pricedUnitsOf, unitNames, type Unit, type UnitCounts } from "../usage/units.ts";
import { tokenCostFields, type CallCost, type CostKind } from "./cost-fields.ts";
import { pricesFor, type Rates, type TokenPrices } from "./rates.ts";
import { chargedCount, pricedUnits } from "./units.ts";

/** The cost of a call's own usage at the price in force when it started (µs since the epoch). */
export type CostOf = (usage: Usage, startedAtUs: number) => CallCost;

/** One unit of a bill. `price` in picodollars for one; `null`: unknown. */
export interface CostLine {
  readonly unit: Unit | (typeof tokenUnits)[keyof typeof tokenUnits] | "requests";
  readonly kind: CostKind;
  readonly quantity: number;
  readonly price: number | null;
}

const tokenUnits = {
  prompt: "uncached_prompt_tokens",
  completion: "completion_tokens",
  cacheRead: "cache_read_input_tokens",
  cacheCreation: "cache_creation_input_tokens",
} as const;

export const unknownCost: CallCost = Object.freeze({
  prompt: null,
  completion: null,
  cacheRead: null,
  cacheCreation: null,
  other: null,
});

/**
 * The costs of a call, none negative. What was not used costs 0, even if its price is unknown. If nothing that was used
 * has a price, all costs are unknown, because a sum of zeros would look like a price.
 */
export function costOfCall(usage: PricedUsage, rates: Rates | null): CallCost {
  if (rates === null) return usesNothing(usage) ? costOfLines([]) : unknownCost;
  if (pricedUnitsOf(usage.units) !== undefined) return costOfLines(costLines(usage, rates));
  const prices = pricesFor(rates, inputOfRequest(usage));
  const prompt = product(uncachedTokens(usage), prices.prompt);
  const completion = product(usage.completionTokens, prices.completion);
  const cacheRead = product(usage.cacheReadTokens, prices.cacheRead);
  const cacheCreation = product(usage.cacheCreationTokens, prices.cacheCreation);
  const isKnown = prompt !== null && completion !== null && cacheRead !== null && cacheCreation !== null;
  if (!isKnown) return costOfLines(costLines(usage, rates));
  const other = prices.request === undefined ? 0 : requestsOf(usage) * prices.request;
  return { prompt, completion, cacheRead, cacheCreation, other };
}

/** The bill of a call, one line per unit used. It adds up to `costOfCall`. */
export function costLines(usage: PricedUsage, rates: Rates | null): readonly CostLine[] {
  const prices = rates === null ? unknownPrices : pricesFor(rates, inputOfRequest(usage));
  const left = {
    prompt: uncachedTokens(usage),
    completion: usage.completionTokens,
    cacheRead: usage.cacheReadTokens,
    cacheCreation: usage.cacheCreationTokens,
  };
  const parts = unitLines(usage.units ?? {}, prices, left);
  const lines: CostLine[] = tokenCostFields.map(({ kind }) => ({
    unit: tokenUnits[kind],
    kind,
    quantity: left[kind],
    price: prices[kind],
  }));
  lines.push(...parts);
  if (prices.request !== undefined)
    lines.push({ unit: "requests", kind: "other", quantity: requestsOf(usage), price: prices.request });
  return lines.filter((line) => line.quantity > 0);
}

/**
 * Takes parts with a price of their own from what is `left` of their counts. Other parts cost the same as the rest. No part is
 * larger than what is left, whatever the producer reports.
 */
function unitLines(
  counts: UnitCounts,
  prices: TokenPrices,
  left: Record<Exclude<CostKind, "other">, number>,
): readonly CostLine[] {
  const lines: CostLine[] = [];
  for (const unit of unitNames) {
    const { cost: kind } = pricedUnits[unit];
    const price = prices.units?.[unit];
    const count = chargedCount(unit, counts);
    if (count <= 0) continue;
    if (kind === "other") {
      lines.push({ unit, kind, quantity: count, price: price ?? null });
    } else if (price !== undefined) {
      const quantity = Math.min(count, left[kind]);
      left[kind] -= quantity;
      lines.push({ unit, kind, quantity, price });
    }
  }
  return lines;
}

function costOfLines(lines: readonly CostLine[]): CallCost {
  if (lines.length > 0 && lines.every(({ price }) => price === null)) return unknownCost;
  const sums: Record<CostKind, number | null> = {
    prompt: 0,
    completion: 0,
    cacheRead: 0,
    cacheCreation: 0,
    other: 0,
  };
  for (const { kind, quantity, price } of lines) {
    const sum = sums[kind];
    sums[kind] = sum === null || price === null ? null : sum + quantity * price;
  }
  return sums;
}

const unknownPrices: TokenPrices = { prompt: null, completion: null, cacheRead: null, cacheCreation: null };

/** The input that decides the tier. Tiers apply to single requests, so a usage of several requests uses the mean. */
export function inputOfRequest(usage: PricedUsage): number {
  const input = uncachedTokens(usage) + usage.cacheReadTokens + usage.cacheCreationTokens;
  return usage.requests > 1 ? input / usage.requests : input;
}

export function uncachedTokens(usage: PricedUsage): number {
  const cached = usage.cacheReadTokens + usage.cacheCreationTokens;
  return isCacheOutside(usage) ? usage.promptTokens : usage.promptTokens - cached;
}

/** Whether the prompt count excludes cached tokens: as the producer reports, or because there are more of them. */
export function isCacheOutside(usage: PricedUsage): boolean {
  return usage.cacheOutsidePrompt || usage.cacheReadTokens + usage.cacheCreationTokens > usage.promptTokens;
}

/** The requests that a usage is charged for: at least one, unless it only states a cost. */
export function requestsOf(usage: PricedUsage): number {
  return usage.requests > 0 ? usage.requests : usesNothing(usage) ? 0 : 1;
}

function product(tokens: number, price: number | null): number | null {
  if (!(tokens > 0)) return 0;
  return price === null ? null : tokens * price;
}
