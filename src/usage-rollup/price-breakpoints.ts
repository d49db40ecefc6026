import type { PriceBook } from "../prices/price-book.ts";
import type { ServedModel } from "./served-models.ts";

/** Instants (µs) and input sizes (tokens), ascending, between which the prices of some LLMs are constant. */
export interface PriceBreakpoints {
  readonly instantsUs: readonly number[];
  readonly inputs: readonly number[];
  /** Upper bound of all inputs, in tokens. */
  readonly maxInput: number;
}

export const NO_PRICES: PriceBreakpoints = { instantsUs: [], inputs: [], maxInput: 0 };

/** Above this, a price lookup per call is faster. */
const MAX_LOOKUPS = 20_000;

/** Finds the breakpoints of the prices of served models. `undefined` after `MAX_LOOKUPS`. */
export function priceBreakpoints(
  book: PriceBook,
  served: readonly ServedModel[],
  { fromUs, toUs }: { readonly fromUs: number; readonly toUs: number },
): PriceBreakpoints | undefined {
  const instants = new Set<number>();
  const inputs = new Set<number>();
  const maxInput = Math.max(0, ...served.map((model) => model.maxInput));
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
