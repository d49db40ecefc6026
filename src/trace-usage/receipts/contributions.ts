import { ownUsages } from "../fold/own-usage.ts";
import type { CallTable } from "../table/call-table.ts";
import type { LlmDictionary } from "../table/llm-dictionary.ts";
import type { Usage } from "../../usage/usage.ts";

/** Contribution of one call to a total for one LLM. */
export interface Contribution {
  readonly call: number;
  readonly usage: Usage;
}

/** Splits the total of a table into contributions: each completion once, and the remainder of inclusive calls. */
export function contributionsOf(read: {
  readonly calls: CallTable;
  readonly names: LlmDictionary;
}): readonly Contribution[] {
  return ownUsages(read, () => true)
    .flatMap(([call, usages]) => usages.map((usage) => ({ call, usage })))
    .toArray();
}
