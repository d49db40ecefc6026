import type { PricedUsage } from "../usage/usage.ts";
import { pricedUnitsOf, unitNames, unitsOf, type Unit, type PricedUnits } from "../usage/units.ts";
import { COST_SLOTS, costFields, tokenCostFields, type CallCost } from "./cost-fields.ts";
import { requestsOf, uncachedTokens } from "./cost-of-call.ts";
import type { TokenPrices } from "./rates.ts";
import { chargedCount, pricedUnits } from "./units.ts";

/** Billed quantities of one usage, or of several with the same kinds, summed. */
export interface Charged {
  /** In the order of `tokenCostFields`, their units included. */
  readonly tokens: readonly number[];
  readonly units: PricedUnits;
  /** 0: nothing was used. */
  readonly requests: number;
}

export function chargedOf(usage: PricedUsage): Charged {
  return {
    tokens: [uncachedTokens(usage), usage.completionTokens, usage.cacheReadTokens, usage.cacheCreationTokens],
    units: pricedUnitsOf(usage.units) ?? {},
    requests: requestsOf(usage),
  };
}

/** Kinds of tokens and units used. Usages with the same kinds at one price have the same known costs, so costs add up. */
export interface UsedKinds {
  /** Bit mask of the token kinds used, by index in `tokenCostFields`. */
  readonly tokens: number;
  /** Bit mask of the token kinds with more tokens than their units. */
  readonly plain: number;
  readonly units: readonly Unit[];
}

/**
 * Undefined: its costs cannot be added up, because its units are more than the tokens that they are part of, or nothing was
 * used, which costs 0 even without a price.
 */
export function usedKindsOf({ tokens, units: counts, requests }: Charged): UsedKinds | undefined {
  if (requests === 0) return undefined;
  const isPlain = Object.keys(counts).length === 0;
  const units = isPlain ? [] : unitNames.filter((unit) => (counts[unit] ?? 0) > 0);
  const plain = [...tokens];
  for (const unit of units) {
    const count = chargedCount(unit, counts);
    if (count <= 0) return undefined;
    const slot = slotOf(unit);
    if (slot < plain.length) plain[slot]! -= count;
  }
  if (plain.some((count) => count < 0)) return undefined;
  return { tokens: placesOf(tokens), plain: placesOf(plain), units };
}

function placesOf(counts: readonly number[]): number {
  return counts.reduce((sum, count, place) => sum + (count > 0 ? 2 ** place : 0), 0);
}

/** Index of a unit's cost in `costFields`. */
function slotOf(unit: Unit): number {
  return costFields.findIndex(({ kind }) => kind === pricedUnits[unit].cost);
}

/** Quantity times price, kept apart: the product may exceed an exact number. */
export interface Product {
  readonly quantity: number;
  readonly price: number;
}
/** In the order of `costFields`; null for a cost that is not known. */
export type AggregateCost = readonly (readonly Product[] | null)[];

const UNKNOWN: AggregateCost = Array.from({ length: COST_SLOTS }, () => null);

/** The sum of `costOfCall` over usages of the same kinds and price. */
export function costOfAggregate(
  charged: Charged,
  kinds: UsedKinds,
  prices: TokenPrices | null,
): AggregateCost {
  if (prices === null) return UNKNOWN;
  const lines = [...tokenLines(charged, kinds, prices), ...otherLines(charged, kinds, prices)];
  if (lines.length > 0 && lines.every(({ price }) => price === null)) return UNKNOWN;
  const cost: (Product[] | null)[] = Array.from({ length: COST_SLOTS }, () => []);
  for (const { slot, quantity, price } of lines) {
    if (price === null) cost[slot] = null;
    else cost[slot]?.push({ quantity, price });
  }
  return cost;
}

interface Line {
  readonly slot: number;
  readonly quantity: number;
  readonly price: number | null;
}

function tokenLines({ tokens, units }: Charged, kinds: UsedKinds, prices: TokenPrices): readonly Line[] {
  return tokenCostFields.flatMap(({ kind }, slot): readonly Line[] => {
    const parts = kinds.units.filter((unit) => slotOf(unit) === slot);
    const priced = parts.flatMap((unit) => {
      const price = prices.units?.[unit];
      return price === undefined ? [] : [{ slot, quantity: chargedCount(unit, units), price }];
    });
    // parts without a price of their own cost what the rest of the count does
    const isRest = (priced.length === parts.length ? kinds.plain : kinds.tokens) & (2 ** slot);
    if (isRest === 0) return priced;
    const quantity = priced.reduce((rest, part) => rest - part.quantity, tokens[slot]!);
    return [{ slot, quantity, price: prices[kind] }, ...priced];
  });
}

function otherLines({ units, requests }: Charged, kinds: UsedKinds, prices: TokenPrices): readonly Line[] {
  const slot = COST_SLOTS - 1;
  const lines: Line[] = kinds.units
    .filter((unit) => slotOf(unit) === slot)
    .map((unit) => ({ slot, quantity: chargedCount(unit, units), price: prices.units?.[unit] ?? null }));
  return prices.request === undefined
    ? lines
    : [...lines, { slot, quantity: requests, price: prices.request }];
}

/** The sum of the costs of so many equal usages. */
export function costOfEqual(count: number, cost: CallCost): AggregateCost {
  return costFields.map(({ kind }) => {
    const price = cost[kind];
    return price === null ? null : [{ quantity: count, price }];
  });
}

/** The units of so many equal usages. */
export function unitsOfEqual(count: number, units: PricedUnits | undefined): PricedUnits | undefined {
  return unitsOf(unitNames, (unit) => count * (units?.[unit] ?? 0));
}
