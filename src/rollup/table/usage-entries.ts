import { release, resize } from "../../shared/buffers.ts";
import { COUNT_SLOTS, countsAt } from "../../usage/count-fields.ts";
import type { UnitCounts } from "../../usage/units.ts";

/** What calls themselves used: one entry per call and LLM, in flat arrays that grow. */
export class UsageEntries {
  length = 0;
  llms = new Int32Array(0);
  counts = new Float64Array(0);
  /** 1 where the prompt count leaves the cache tokens out. */
  cacheOutsidePrompt = new Uint8Array(0);
  /** Who served it, as `ServiceNames` numbers it; 0 where nobody says. */
  services = new Int32Array(0);
  /** What few entries have: units beside the counts. */
  readonly units = new Map<number, UnitCounts>();

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

  /** Forgets the entries from one on. */
  dropFrom(entry: number): void {
    for (let dropped = entry; dropped < this.length; dropped++) this.units.delete(dropped);
    this.services.fill(0, entry, this.length);
    this.length = entry;
  }

  /** The tokens of some entries together. `input` holds the cached ones, also where `prompt` leaves them out. */
  tokensOf(first: number, end: number): { prompt: number; input: number; completion: number } {
    const tokens = { prompt: 0, input: 0, completion: 0 };
    for (let entry = first; entry < end; entry++) {
      const counts = countsAt(this.counts, entry * COUNT_SLOTS);
      const outside =
        this.cacheOutsidePrompt[entry] === 1 ? counts.cacheReadTokens + counts.cacheCreationTokens : 0;
      tokens.prompt += counts.promptTokens;
      tokens.input += counts.promptTokens + outside;
      tokens.completion += counts.completionTokens;
    }
    return tokens;
  }

  release(): void {
    release(this.llms, this.counts, this.cacheOutsidePrompt, this.services);
  }

  private grow(size: number): void {
    this.llms = resize(this.llms, new Int32Array(size));
    this.counts = resize(this.counts, new Float64Array(size * COUNT_SLOTS));
    this.cacheOutsidePrompt = resize(this.cacheOutsidePrompt, new Uint8Array(size));
    this.services = resize(this.services, new Int32Array(size));
  }
}
