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
import type { StatedCost } from "../usage/stated-cost.ts";
import type { PricedUnits } from "../usage/units.ts";
import type { Service } from "../usage/usage.ts";
import type { PriceKey } from "./price-key.ts";

/** Totals of the calls of one `group_by` key between two instants. */
export interface UsageAggregate {
  /** Start of the interval, in microseconds since the epoch; in the same time bucket as the calls. */
  readonly atUs: number;
  /** Values of the `group_by` fields; '' where absent. */
  readonly fields: readonly string[];
  readonly calls: number;
  readonly errors: number;
  readonly latency: LatencySums;
  /** Every latency (ms) if the query needs percentiles; otherwise empty. */
  readonly latencies: readonly number[];
  readonly stated: StatedCost;
  /** `undefined` if the calls used no LLM. */
  readonly used: AggregatedUsage | undefined;
}

/** Latency sums of ended calls, in milliseconds. */
export interface LatencySums {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
}

export const NO_LATENCIES: LatencySums = { count: 0, sum: 0, min: 0, max: 0 };

/** Usage of one LLM; either every usage has a price or none has. */
export interface AggregatedUsage {
  readonly llm: string;
  readonly service: Service | undefined;
  readonly usages: number;
  readonly counts: Float64Array;
  readonly units: PricedUnits | undefined;
  /** `undefined` if `include_costs` is false. */
  readonly costs: AggregateCost | undefined;
}

/** Sums by ClickHouse over usage records with one price key. */
export interface SummedUsage {
  readonly usages: number;
  readonly counts: Float64Array;
  readonly uncached: number;
  readonly chargedRequests: number;
  /** Quantity per unit of the price key, in its order. */
  readonly units: readonly number[];
}

export interface PricedAt {
  readonly book: PriceBook;
  readonly atUs: number;
  /** Input tokens of a representative request: same price tier as all requests summed. */
  readonly input: number;
}

/** Computes the units and, unless `at` is `undefined`, the costs of summed records. */
export function priceAggregate(
  priceKey: PriceKey,
  summed: SummedUsage,
  at: PricedAt | undefined,
): AggregatedUsage {
  const { llm, service } = priceKey;
  const units = unitsOfAggregate(priceKey, summed);
  const rates = at === undefined ? undefined : at.book.ratesAt(llm, at.atUs, service);
  const costs =
    rates === undefined ? undefined : costsOf(priceKey, { ...summed, units }, { rates, input: at!.input });
  return { llm, service, usages: summed.usages, counts: summed.counts, units, costs };
}

function unitsOfAggregate(
  { kinds, exact }: PriceKey,
  { usages, units }: SummedUsage,
): PricedUnits | undefined {
  if (exact !== undefined) return unitsOfEqual(usages, exact.units);
  if (kinds.units.length === 0) return undefined;
  return Object.fromEntries(kinds.units.map((unit, index) => [unit, units[index]!]));
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
