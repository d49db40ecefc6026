import type { PriceBook } from "../prices/price-book.ts";
import type { ServedModel } from "./served-models.ts";

/** What cuts the prices of some LLMs: instants (µs), and sizes of requests, ascending. Between two of them a price is the same. */
export interface PriceBreakpoints {
  readonly instantsUs: readonly number[];
  readonly inputs: readonly number[];
  /** No request has a larger input. */
  readonly maxInput: number;
}

export const NO_PRICES: PriceBreakpoints = { instantsUs: [], inputs: [], maxInput: 0 };

/** More than this, and it is quicker to look prices up call by call. */
const MAX_LOOKUPS = 20_000;

/** Undefined if there are too many. */
export function priceBreakpoints(
  book: PriceBook,
  served: readonly ServedModel[],
  { fromUs, toUs }: { readonly fromUs: number; readonly toUs: number },
): PriceBreakpoints | undefined {
  const instants = new Set<number>();
  const inputs = new Set<number>();
  const maxInput = Math.max(0, ...served.map((one) => one.maxInput));
  let lookups = 0;
  for (const { llm, service } of served) {
    for (let atUs = fromUs; atUs <= toUs; atUs = book.nextPriceChange(llm, atUs, service)) {
      if (++lookups > MAX_LOOKUPS) return undefined;
      instants.add(atUs);
      for (const { aboveTokens } of book.ratesAt(llm, atUs, service)?.tiers ?? [])
        if (aboveTokens < maxInput) inputs.add(aboveTokens);
    }
  }
  instants.delete(fromUs);
  const ascending = (values: Iterable<number>): readonly number[] => [...values].sort((a, b) => a - b);
  return { instantsUs: ascending(instants), inputs: ascending(inputs), maxInput };
}
