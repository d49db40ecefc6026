import { COST_SLOTS, costFields, type CallCost, type CostKind } from "./cost-fields.ts";
import { requestsOf, uncachedTokens } from "./cost-of-call.ts";
import type { TokenPrices } from "./rates.ts";
import type { PricedUsage } from "../usage/usage.ts";

/** What a usage is charged for, where it has no units beside plain tokens; or several that use the same kinds, added up. */
export interface Charged {
  readonly uncached: number;
  readonly completion: number;
  readonly cacheRead: number;
  readonly cacheCreation: number;
  readonly requests: number;
}

export function chargedOf(usage: PricedUsage): Charged {
  return {
    uncached: uncachedTokens(usage),
    completion: usage.completionTokens,
    cacheRead: usage.cacheReadTokens,
    cacheCreation: usage.cacheCreationTokens,
    requests: requestsOf(usage),
  };
}

/** The kinds of tokens used at all. Usages of the same kinds, at one price, have the same costs known. */
export function usedKindsOf({ uncached, completion, cacheRead, cacheCreation }: Charged): number {
  return (
    Number(uncached > 0) +
    2 * Number(completion > 0) +
    4 * Number(cacheRead > 0) +
    8 * Number(cacheCreation > 0)
  );
}

/** A cost as a product, which can be too large to be exact as a number; null if it is not known. */
export interface Product {
  readonly quantity: number;
  readonly price: number;
}
export type CellCost = readonly (Product | null)[];

const UNKNOWN: CellCost = Array.from({ length: COST_SLOTS }, () => null);

/** The sum of `costOfCall` over usages without units with the same kinds and price, in the order of `costFields`. */
export function costOfCell(charged: Charged, prices: TokenPrices | null): CellCost {
  if (prices === null) return UNKNOWN;
  const used: readonly (readonly [number, number | null])[] = [
    [charged.uncached, prices.prompt],
    [charged.completion, prices.completion],
    [charged.cacheRead, prices.cacheRead],
    [charged.cacheCreation, prices.cacheCreation],
  ];
  const isUnpriced = ([quantity, price]: readonly [number, number | null]): boolean =>
    quantity > 0 && price === null;
  const isPriced = ([quantity, price]: readonly [number, number | null]): boolean =>
    quantity > 0 && price !== null;
  if (used.some(isUnpriced) && !used.some(isPriced) && prices.request === undefined) return UNKNOWN;
  const tokens = used.map((one) => (isUnpriced(one) ? null : { quantity: one[0], price: one[1] ?? 0 }));
  return [...tokens, { quantity: charged.requests, price: prices.request ?? 0 }];
}

/** The sum of the costs of so many equal usages. */
export function costOfEqual(count: number, cost: CallCost): CellCost {
  return costFields.map(({ kind }) => product(count, cost[kind]));
}

function product(quantity: number, price: CallCost[CostKind]): Product | null {
  return price === null ? null : { quantity, price };
}
