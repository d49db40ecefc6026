import { COST_SLOTS } from "../../prices/cost-fields.ts";
import type { Totals } from "./totals.ts";

/** Adds one part's costs, in their slots, to an entry. */
export function addCosts(cost: Float64Array, totals: Totals, entry: number): void {
  const { costs, unpriced, pricedContributions: pricedParts, withParts } = totals;
  if (hasUnknown(cost)) unpriced[entry]!++;
  const at = entry * COST_SLOTS;
  for (let slot = 0; slot < COST_SLOTS; slot++) {
    addCost(costs, at + slot, cost[slot]!);
    if (withParts && !Number.isNaN(cost[slot]!)) pricedParts[at + slot]!++;
  }
}

/** Adds one entry's costs and its number of parts to another. */
export function addContributions(from: number, into: number, totals: Totals): void {
  const { withCosts, withParts, costs, unpriced, parts, pricedContributions: pricedParts } = totals;
  if (withParts) parts[into]! += parts[from]!;
  if (!withCosts) return;
  unpriced[into]! += unpriced[from]!;
  for (let slot = 0; slot < COST_SLOTS; slot++) {
    addCost(costs, into * COST_SLOTS + slot, costs[from * COST_SLOTS + slot]!);
    if (withParts) pricedParts[into * COST_SLOTS + slot]! += pricedParts[from * COST_SLOTS + slot]!;
  }
}

/** Subtracts what one part added. A sum without any known cost is unknown. */
export function subtractCosts(
  cost: Float64Array,
  { costs, unpriced, pricedContributions: pricedParts }: Totals,
  entry: number,
): void {
  if (hasUnknown(cost)) unpriced[entry]!--;
  for (let slot = 0; slot < COST_SLOTS; slot++) {
    if (Number.isNaN(cost[slot]!)) continue;
    const at = entry * COST_SLOTS + slot;
    const left = --pricedParts[at]!;
    costs[at] = left === 0 ? Number.NaN : Math.max(0, costs[at]! - cost[slot]!);
  }
}

function hasUnknown(cost: Float64Array): boolean {
  for (let slot = 0; slot < COST_SLOTS; slot++) if (Number.isNaN(cost[slot]!)) return true;
  return false;
}

/** Unknown plus known is known: an aggregate is unknown only if all of it is. */
function addCost(costs: Float64Array, at: number, cost: number): void {
  if (Number.isNaN(cost)) return;
  costs[at] = Number.isNaN(costs[at]) ? cost : costs[at]! + cost;
}
