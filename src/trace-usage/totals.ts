import { NONE } from "./call-table.ts";
import { grown } from "./grown.ts";
import { COUNT_SLOTS } from "./usage-entries.ts";

/** The costs of an entry, in the order of its slots. */
export const COSTS = [
  "prompt_tokens_total_cost",
  "completion_tokens_total_cost",
  "cache_read_input_tokens_total_cost",
  "cache_creation_input_tokens_total_cost",
] as const;
export const COST_SLOTS = COSTS.length;

/**
 * Per call, a list of entries, one per LLM. All entries live in a few flat arrays; a list that is complete never
 * changes, so that a call with nothing of its own shares its only child's list. Costs are in picodollars, unknown ones NaN.
 */
export class Totals {
  readonly heads: Int32Array;
  readonly withCosts: boolean;
  length = 0;
  llms: Int32Array;
  next: Int32Array;
  counts: Float64Array;
  costs: Float64Array;

  constructor(calls: number, withCosts: boolean) {
    this.heads = new Int32Array(calls).fill(NONE);
    this.withCosts = withCosts;
    const size = Math.max(64, calls + (calls >> 1));
    this.llms = new Int32Array(size);
    this.next = new Int32Array(size);
    this.counts = new Float64Array(size * COUNT_SLOTS);
    this.costs = new Float64Array(withCosts ? size * COST_SLOTS : 0).fill(Number.NaN);
  }

  /** Puts a new entry of zeros and unknown costs in front of a call's list. */
  add(call: number, llm: number): number {
    if (this.length === this.llms.length) this.grow();
    const entry = this.length++;
    this.llms[entry] = llm;
    this.next[entry] = this.heads[call]!;
    this.heads[call] = entry;
    return entry;
  }

  private grow(): void {
    const size = this.llms.length * 2;
    this.llms = grown(this.llms, new Int32Array(size));
    this.next = grown(this.next, new Int32Array(size));
    this.counts = grown(this.counts, new Float64Array(size * COUNT_SLOTS));
    if (this.withCosts) this.costs = grown(this.costs, new Float64Array(size * COST_SLOTS).fill(Number.NaN));
  }
}
