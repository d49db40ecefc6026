import { COST_SLOTS } from "../../prices/cost-fields.ts";
import type { Totals } from "./totals.ts";

/** Adds the costs of one contribution, in their slots, to an entry. */
export function addCosts(cost: Float64Array, totals: Totals, entry: number): void {
  const { costs, unpriced, pricedContributions, withParts } = totals;
  if (hasUnknown(cost)) unpriced[entry]!++;
  const at = entry * COST_SLOTS;
  for (let slot = 0; slot < COST_SLOTS; slot++) {
    addCost(costs, at + slot, cost[slot]!);
    if (withParts && !Number.isNaN(cost[slot]!)) pricedContributions[at + slot]!++;
  }
}

/** Adds one entry's costs and number of contributions to another. */
export function addContributions(from: number, into: number, totals: Totals): void {
  const { withCosts, withParts, costs, unpriced, parts, pricedContributions } = totals;
  if (withParts) parts[into]! += parts[from]!;
  if (!withCosts) return;
  unpriced[into]! += unpriced[from]!;
  for (let slot = 0; slot < COST_SLOTS; slot++) {
    addCost(costs, into * COST_SLOTS + slot, costs[from * COST_SLOTS + slot]!);
    if (withParts)
      pricedContributions[into * COST_SLOTS + slot]! += pricedContributions[from * COST_SLOTS + slot]!;
  }
}

/** Subtracts the costs of one contribution. A sum without known costs is unknown. */
export function subtractCosts(
  cost: Float64Array,
  { costs, unpriced, pricedContributions }: Totals,
  entry: number,
): void {
  if (hasUnknown(cost)) unpriced[entry]!--;
  for (let slot = 0; slot < COST_SLOTS; slot++) {
    if (Number.isNaN(cost[slot]!)) continue;
    const at = entry * COST_SLOTS + slot;
    const left = --pricedContributions[at]!;
    costs[at] = left === 0 ? Number.NaN : Math.max(0, costs[at]! - cost[slot]!);
  }
}

function hasUnknown(cost: Float64Array): boolean {
  for (let slot = 0; slot < COST_SLOTS; slot++) if (Number.isNaN(cost[slot]!)) return true;
  return false;
}

/** Adds costs: unknown plus known is known, so a sum is unknown only if all of it is. */
function addCost(costs: Float64Array, at: number, cost: number): void {
  if (Number.isNaN(cost)) return;
  costs[at] = Number.isNaN(costs[at]) ? cost : costs[at]! + cost;
}
