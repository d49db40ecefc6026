import { priceAggregate, type UsageAggregate } from "./aggregate.ts";
import { parsePriceKey, type PriceKey } from "./price-key.ts";
import type { OwnUsageQuery } from "./rollup-query.ts";
import { isRequested, type Sums } from "./sum-records.ts";

/** Prices summed records; yields the aggregates inside the window. */
export function* aggregatesOf(
  all: readonly Sums[],
  { window, book }: Pick<OwnUsageQuery, "window" | "book">,
): Generator<UsageAggregate> {
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
      yield { ...sum, used: priceKey === "" ? undefined : priceAggregate(priceKeyFor(priceKey), sum, at) };
    }
  }
}
