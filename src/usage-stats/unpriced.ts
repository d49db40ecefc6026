import { costFields, type CallCost } from "../prices/cost-fields.ts";
import type { LlmNames } from "../rollup/table/llm-names.ts";
import { COUNT_SLOTS, countFields, countSlots } from "../usage/count-fields.ts";

/** Which cost charges for a count. Requests and the total are kept with anything that has no price. */
const COST_OF: Readonly<Partial<Record<keyof typeof countSlots, keyof CallCost>>> = {
  promptTokens: "prompt",
  completionTokens: "completion",
  cacheReadTokens: "cacheRead",
  cacheCreationTokens: "cacheCreation",
};

/** What the sums of costs leave out, by LLM. */
export class Unpriced {
  private readonly counts = new Map<number, number[]>();
  private readonly names: LlmNames;

  constructor(names: LlmNames) {
    this.names = names;
  }

  /** Keeps the counts of a usage that have no price. */
  add(llm: number, cost: CallCost, { counts, at }: { counts: Float64Array; at: number }): void {
    if (costFields.every(({ kind }) => cost[kind] !== null)) return;
    let left = this.counts.get(llm);
    if (left === undefined) this.counts.set(llm, (left = countFields.map(() => 0)));
    for (let slot = 0; slot < COUNT_SLOTS; slot++) {
      const kind = COST_OF[countFields[slot]!.name];
      if (kind === undefined || cost[kind] === null) left[slot]! += counts[at + slot]!;
    }
  }

  /** The largest first. */
  list(): readonly { readonly llm: string; readonly counts: readonly number[] }[] {
    const total = countSlots.totalTokens;
    return [...this.counts]
      .map(([llm, counts]) => ({ llm: this.names.textOf(llm), counts }))
      .sort((a, b) => b.counts[total]! - a.counts[total]! || (a.llm < b.llm ? -1 : 1));
  }
}
