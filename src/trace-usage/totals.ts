import { NONE } from "./forest.ts";

/** The counts of an entry, in the order of its slots. */
export const COUNTS = [
  "requests",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
] as const;
export const COSTS = [
  "prompt_tokens_total_cost",
  "completion_tokens_total_cost",
  "cache_read_input_tokens_total_cost",
  "cache_creation_input_tokens_total_cost",
] as const;
export const COUNT_SLOTS = COUNTS.length;
export const COST_SLOTS = COSTS.length;

/**
 * Per call, a list of entries, one per LLM. All entries of a trace live in a few flat arrays; a list that is complete
 * never changes, so that a call with nothing of its own shares its only child's list.
 * An unknown cost is NaN.
 */
export class Totals {
  readonly heads: Int32Array;
  length = 0;
  llms = new Int32Array(1024);
  next = new Int32Array(1024);
  counts = new Float64Array(1024 * COUNT_SLOTS);
  costs = new Float64Array(1024 * COST_SLOTS);

  constructor(calls: number) {
    this.heads = new Int32Array(calls).fill(NONE);
  }

  /** Puts a new entry of zeros and unknown costs in front of a call's list. */
  add(call: number, llm: number): number {
    if (this.length === this.llms.length) this.grow();
    const entry = this.length++;
    this.llms[entry] = llm;
    this.next[entry] = this.heads[call]!;
    this.heads[call] = entry;
    this.costs.fill(Number.NaN, entry * COST_SLOTS, (entry + 1) * COST_SLOTS);
    return entry;
  }

  private grow(): void {
    const size = this.llms.length * 2;
    this.llms = grown(this.llms, new Int32Array(size));
    this.next = grown(this.next, new Int32Array(size));
    this.counts = grown(this.counts, new Float64Array(size * COUNT_SLOTS));
    this.costs = grown(this.costs, new Float64Array(size * COST_SLOTS));
  }
}

function grown<Numbers extends Int32Array | Float64Array>(from: Numbers, into: Numbers): Numbers {
  into.set(from);
  return into;
}
