import { ownUsages } from "../fold/own-usage.ts";
import type { CallTable } from "../table/call-table.ts";
import type { LlmDictionary } from "../table/llm-dictionary.ts";
import type { Usage } from "../../usage/usage.ts";

/** What one call adds to a total for one LLM. */
export interface Contribution {
  readonly call: number;
  readonly usage: Usage;
}

/** The parts that make up the total of a table's calls: each completion once, and for inclusive calls the remainder. */
export function contributionsOf(read: {
  readonly calls: CallTable;
  readonly names: LlmDictionary;
}): readonly Contribution[] {
  return ownUsages(read, () => true)
    .flatMap(([call, usages]) => usages.map((usage) => ({ call, usage })))
    .toArray();
}
