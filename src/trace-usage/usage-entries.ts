/** The counts of an entry, in the order of its slots. */
export const COUNTS = [
  "requests",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
] as const;
export const COUNT_SLOTS = COUNTS.length;

/** What calls themselves used: one entry per call and LLM, in flat arrays that grow. */
export class UsageEntries {
  length = 0;
  llms = new Int32Array(256);
  counts = new Float64Array(256 * COUNT_SLOTS);
  /** 1 where the prompt count leaves the cache tokens out. */
  cacheOutsidePrompt = new Uint8Array(256);

  add(llm: number): number {
    if (this.length === this.llms.length) {
      const size = this.length * 2;
      this.llms = grown(this.llms, new Int32Array(size));
      this.counts = grown(this.counts, new Float64Array(size * COUNT_SLOTS));
      this.cacheOutsidePrompt = grown(this.cacheOutsidePrompt, new Uint8Array(size));
    }
    this.llms[this.length] = llm;
    return this.length++;
  }
}

export function grown<Numbers extends Int32Array | Float64Array | Uint8Array>(
  from: Numbers,
  into: Numbers,
): Numbers {
  into.set(from);
  return into;
}
