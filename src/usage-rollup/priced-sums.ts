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
import type { PricedUnits } from "../usage/units.ts";
import type { Service } from "../usage/usage.ts";
import { parsePriceKey, type PriceKey } from "./price-key.ts";
import type { OwnUsageQuery } from "./rollup-query.ts";
import { isRequested, type Quantities, type RecordSum, type SummedRecords } from "./sum-records.ts";

/** Sum of the records of one `group_by` key between two instants, with the usage of one LLM. */
export interface PricedSum extends RecordSum {
  /** `undefined` if the calls used no LLM. */
  readonly used: UsedSum | undefined;
}

/** Usage of one LLM; either every usage has a price or none has. */
export interface UsedSum {
  readonly llm: string;
  readonly service: Service | undefined;
  readonly counts: Float64Array;
  readonly units: PricedUnits | undefined;
  /** `undefined` if `include_costs` is false. */
  readonly costs: AggregateCost | undefined;
}

export interface PricedAt {
  readonly book: PriceBook;
  readonly atUs: number;
  /** Input tokens of a representative request: same price tier as all requests summed. */
  readonly input: number;
}

/** Computes the units and, unless `at` is `undefined`, the costs of summed records. */
export function priceQuantities(
  priceKey: PriceKey,
  quantities: Quantities,
  at: PricedAt | undefined,
): UsedSum {
  const { llm, service } = priceKey;
  const units = unitsOfSum(priceKey, quantities);
  const rates = at === undefined ? undefined : at.book.ratesAt(llm, at.atUs, service);
  const costs =
    rates === undefined
      ? undefined
      : costsOf(priceKey, { ...quantities, units }, { rates, input: at!.input });
  return { llm, service, counts: quantities.counts, units, costs };
}

function unitsOfSum({ kinds, exact }: PriceKey, { records, units }: Quantities): PricedUnits | undefined {
  if (exact !== undefined) return unitsOfEqual(records, exact.units);
  if (kinds.units.length === 0) return undefined;
  return Object.fromEntries(kinds.units.map((unit, index) => [unit, units[index]!]));
}

function costsOf(
  { kinds, exact }: PriceKey,
  {
    records,
    counts,
    uncached,
    chargedRequests,
    units = {},
  }: Omit<Quantities, "units"> & Pick<UsedSum, "units">,
  { rates, input }: { readonly rates: Rates | null; readonly input: number },
): AggregateCost {
  if (exact !== undefined) return costOfEqual(records, costOfCall(exact, rates));
  const { completionTokens, cacheReadTokens, cacheCreationTokens } = countsAt(counts, 0);
  const tokens = [uncached, completionTokens, cacheReadTokens, cacheCreationTokens];
  const prices = rates === null ? null : pricesFor(rates, input);
  return costOfAggregate({ tokens, units, requests: chargedRequests }, kinds, prices);
}

/** Prices summed records; yields the sums inside the window. */
export function* pricedSums(
  all: readonly SummedRecords[],
  { window, book }: Pick<OwnUsageQuery, "window" | "book">,
): Generator<PricedSum> {
  const known = new Map<string, PriceKey>();
  const priceKeyFor = (text: string): PriceKey => {
    const priceKey = known.get(text) ?? parsePriceKey(text);
    // an exact usage rarely repeats
    if (priceKey.exact === undefined) known.set(text, priceKey);
    return priceKey;
  };
  for (const { sums, prices } of all) {
    for (const sum of sums) {
      const { atUs, priceKey, priceTier } = sum;
      if (!isRequested(sum) || atUs < window.startUs || atUs >= window.endUs) continue;
      const at = book && { book, atUs, input: prices.inputs[priceTier] ?? prices.maxInput };
      yield { ...sum, used: priceKey === "" ? undefined : priceQuantities(priceKeyFor(priceKey), sum, at) };
    }
  }
}
