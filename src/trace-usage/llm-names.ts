import { NONE } from "./forest.ts";

/** Numbers the LLMs of one answer. */
export class LlmNames {
  readonly names: string[] = [];
  private readonly texts: string[] = [];
  private readonly numbers = new Map<string, number>();

  numberOf(name: string): number {
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    const number = this.names.length;
    this.numbers.set(name, number);
    this.names.push(name);
    this.texts.push(JSON.stringify(name));
    return number;
  }

  /** The name as JSON text. */
  quoted(number: number): string {
    return this.texts[number]!;
  }
}

/** For one call at a time: which entry holds which LLM. Forgetting costs what was remembered, not the table's size. */
export class EntryOfLlm {
  private entries = new Int32Array(64).fill(NONE);
  private readonly touched: number[] = [];

  get(llm: number): number {
    return this.entries[llm] ?? NONE;
  }

  set(llm: number, entry: number): void {
    if (llm >= this.entries.length) this.grow(llm);
    this.entries[llm] = entry;
    this.touched.push(llm);
  }

  clear(): void {
    for (const llm of this.touched) this.entries[llm] = NONE;
    this.touched.length = 0;
  }

  private grow(llm: number): void {
    const larger = new Int32Array(Math.max(llm + 1, this.entries.length * 2)).fill(NONE);
    larger.set(this.entries);
    this.entries = larger;
  }
}
