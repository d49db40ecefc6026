import { costOfCall } from "../prices/cost-of-call.ts";
import {
  costOfAggregate,
  costOfEqual,
  unitsOfEqual,
  type AggregateCost,
} from "../prices/cost-of-aggregate.ts";
import type { PriceBook } from "../prices/price-book.ts";
import { pricesFor, type Rates } from "../prices/rates.ts";
import { countsAt } from "../usage/count-fields.ts";
import type { UnitCounts } from "../usage/units.ts";
import type { Service } from "../usage/usage.ts";
import type { PriceKey } from "./price-key.ts";

/** Calls of one group, between two instants, added up. */
export interface UsageAggregate {
  /** Where it begins, in microseconds since the epoch: in the same bucket as its calls. */
  readonly atUs: number;
  /** The values of the fields that were asked for; '' where absent. */
  readonly fields: readonly string[];
  readonly calls: number;
  readonly errors: number;
  readonly latency: LatencySums;
  /** Each of them, if that was asked for. */
  readonly latencies: readonly number[];
  /** Undefined: the calls used nothing. */
  readonly used: AggregatedUsage | undefined;
}

/** Of the latencies of some calls that have ended, what one can add up. */
export interface LatencySums {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
}

export const NO_LATENCIES: LatencySums = { count: 0, sum: 0, min: 0, max: 0 };

/** Usages of one LLM, all of whose costs are known or none. */
export interface AggregatedUsage {
  readonly llm: string;
  readonly service: Service | undefined;
  readonly usages: number;
  readonly counts: Float64Array;
  readonly units: UnitCounts | undefined;
  /** Undefined: not asked for. */
  readonly costs: AggregateCost | undefined;
}

/** What an engine adds up of records that are priced alike. */
export interface SummedUsage {
  readonly usages: number;
  readonly counts: Float64Array;
  readonly uncached: number;
  readonly chargedRequests: number;
  /** Of the units that `PricedAs` names. */
  readonly units: readonly number[];
}

export interface PricedAt {
  readonly book: PriceBook;
  readonly atUs: number;
  /** An input that has the same price as those of all requests. */
  readonly input: number;
}

/** `at`: undefined without costs. */
export function priceAggregate(
  priceKey: PriceKey,
  added: SummedUsage,
  at: PricedAt | undefined,
): AggregatedUsage {
  const { llm, service } = priceKey;
  const units = unitsOfAggregate(priceKey, added);
  const rates = at === undefined ? undefined : at.book.ratesAt(llm, at.atUs, service);
  const costs =
    rates === undefined ? undefined : costsOf(priceKey, { ...added, units }, { rates, input: at!.input });
  return { llm, service, usages: added.usages, counts: added.counts, units, costs };
}

function unitsOfAggregate(
  { kinds, exact }: PriceKey,
  { usages, units }: SummedUsage,
): UnitCounts | undefined {
  if (exact !== undefined) return unitsOfEqual(usages, exact.units);
  if (kinds.units.length === 0) return undefined;
  return Object.fromEntries(kinds.units.map((unit, place) => [unit, units[place]!]));
}

function costsOf(
  { kinds, exact }: PriceKey,
  {
    usages,
    counts,
    uncached,
    chargedRequests,
    units = {},
  }: Omit<SummedUsage, "units"> & Pick<AggregatedUsage, "units">,
  { rates, input }: { readonly rates: Rates | null; readonly input: number },
): AggregateCost {
  if (exact !== undefined) return costOfEqual(usages, costOfCall(exact, rates));
  const { completionTokens, cacheReadTokens, cacheCreationTokens } = countsAt(counts, 0);
  const tokens = [uncached, completionTokens, cacheReadTokens, cacheCreationTokens];
  const prices = rates === null ? null : pricesFor(rates, input);
  return costOfAggregate({ tokens, units, requests: chargedRequests }, kinds, prices);
}
