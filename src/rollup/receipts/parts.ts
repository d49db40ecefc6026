import { ownUsages } from "../fold/own-usage.ts";
import type { CallTable } from "../table/call-table.ts";
import type { LlmNames } from "../table/llm-names.ts";
import type { Usage } from "../../usage/usage.ts";

/** What one call adds to a total for one LLM. */
export interface Part {
  readonly call: number;
  readonly usage: Usage;
}

/** The parts that make up the total of a table's calls: each completion once, and for inclusive calls the remainder. */
export function partsOf(read: { readonly calls: CallTable; readonly names: LlmNames }): readonly Part[] {
  return ownUsages(read, () => true)
    .flatMap(([call, usages]) => usages.map((usage) => ({ call, usage })))
    .toArray();
}
