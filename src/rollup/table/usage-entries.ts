import { resize } from "../../shared/buffers.ts";

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
  llms = new Int32Array(0);
  counts = new Float64Array(0);
  /** 1 where the prompt count leaves the cache tokens out. */
  cacheOutsidePrompt = new Uint8Array(0);

  /** Makes room, so that as many entries more need no growth. */
  reserve(entries: number): void {
    const needed = this.length + entries;
    if (needed > this.llms.length) this.grow(Math.max(needed, this.llms.length * 2));
  }

  add(llm: number): number {
    this.reserve(1);
    this.llms[this.length] = llm;
    return this.length++;
  }

  /** The tokens of some entries together. `input` holds the cached ones, also where `prompt` leaves them out. */
  tokensOf(first: number, end: number): { prompt: number; input: number; completion: number } {
    const tokens = { prompt: 0, input: 0, completion: 0 };
    for (let entry = first; entry < end; entry++) {
      const count = (slot: number): number => this.counts[entry * COUNT_SLOTS + slot]!;
      tokens.prompt += count(1);
      tokens.input += count(1) + (this.cacheOutsidePrompt[entry] === 1 ? count(4) + count(5) : 0);
      tokens.completion += count(2);
    }
    return tokens;
  }

  private grow(size: number): void {
    this.llms = resize(this.llms, new Int32Array(size));
    this.counts = resize(this.counts, new Float64Array(size * COUNT_SLOTS));
    this.cacheOutsidePrompt = resize(this.cacheOutsidePrompt, new Uint8Array(size));
  }
}
