import { release, resize } from "../../shared/buffers.ts";
import { COUNT_SLOTS, countsAt, countSlots } from "../../usage/count-fields.ts";
import type { UnitCounts } from "../../usage/units.ts";

interface CountsAndUnits {
  readonly counts: Float64Array;
  readonly units: ReadonlyMap<number, UnitCounts>;
}

/** Usage entries of calls, one per call and LLM, in growing flat arrays. */
export class UsageEntries implements Disposable {
  length = 0;
  llms = new Int32Array(0);
  counts = new Float64Array(0);
  /** 1 if the prompt count excludes cached tokens. */
  cacheOutsidePrompt = new Uint8Array(0);
  /** Number in `ServiceDictionary`; 0 if unknown. */
  services = new Int32Array(0);
  /** Units besides tokens, which few entries have. */
  readonly units = new Map<number, UnitCounts>();

  /** Reserves space for further entries. */
  reserve(entries: number): void {
    const needed = this.length + entries;
    if (needed > this.llms.length) this.grow(Math.max(needed, this.llms.length * 2));
  }

  add(llm: number): number {
    this.reserve(1);
    this.llms[this.length] = llm;
    return this.length++;
  }

  /** Copies an entry, optionally with other counts and units. */
  copy(from: UsageEntries, used: number, { counts, units }: CountsAndUnits = from): void {
    const entry = this.add(from.llms[used]!);
    this.counts.set(counts.subarray(used * COUNT_SLOTS, (used + 1) * COUNT_SLOTS), entry * COUNT_SLOTS);
    this.cacheOutsidePrompt[entry] = from.cacheOutsidePrompt[used]!;
    this.services[entry] = from.services[used]!;
    const unitsOfEntry = units.get(used);
    if (unitsOfEntry !== undefined) this.units.set(entry, unitsOfEntry);
  }

  /** Truncates the entries. */
  dropFrom(entry: number): void {
    for (let dropped = entry; dropped < this.length; dropped++) this.units.delete(dropped);
    this.services.fill(0, entry, this.length);
    this.length = entry;
  }

  /** Sums the requests of entries. */
  requestsOf(first: number, end: number): number {
    let requests = 0;
    for (let entry = first; entry < end; entry++)
      requests += this.counts[entry * COUNT_SLOTS + countSlots.requests]!;
    return requests;
  }

  /** Sums the tokens of entries. `input` includes cached tokens, even if `prompt` excludes them. */
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

  [Symbol.dispose](): void {
    release(this.llms, this.counts, this.cacheOutsidePrompt, this.services);
  }

  private grow(size: number): void {
    this.llms = resize(this.llms, new Int32Array(size));
    this.counts = resize(this.counts, new Float64Array(size * COUNT_SLOTS));
    this.cacheOutsidePrompt = resize(this.cacheOutsidePrompt, new Uint8Array(size));
    this.services = resize(this.services, new Int32Array(size));
  }
}
