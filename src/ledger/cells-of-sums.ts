import { cellUsage, type Cell } from "./cell.ts";
import { readPricedAs, type PricedAs } from "./priced-as.ts";
import type { OwnUsageAsked } from "./question.ts";
import { isAsked, type Sums } from "./sum-entries.ts";

/** What sums of entries come to, in the window alone, at the prices of the book. */
export function* cellsOf(
  all: readonly Sums[],
  { window, book }: Pick<OwnUsageAsked, "window" | "book">,
): Generator<Cell> {
  const known = new Map<string, PricedAs>();
  const pricedAsOf = (text: string): PricedAs => {
    const pricedAs = known.get(text) ?? readPricedAs(text);
    // a whole usage is seldom met again
    if (pricedAs.exact === undefined) known.set(text, pricedAs);
    return pricedAs;
  };
  for (const { sums, prices } of all) {
    for (const sum of sums) {
      const { atUs, pricedAs, priceTier } = sum;
      if (!isAsked(sum) || atUs < window.startUs || atUs >= window.endUs) continue;
      const at = book && { book, atUs, input: prices.inputs[priceTier] ?? prices.maxInput };
      yield { ...sum, used: pricedAs === "" ? undefined : cellUsage(pricedAsOf(pricedAs), sum, at) };
    }
  }
}
