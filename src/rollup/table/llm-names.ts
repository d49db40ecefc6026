import { NONE } from "./call-table.ts";
import { resize } from "../../shared/buffers.ts";

const SEARCHED = 32;

/** Numbers the LLMs of one answer. */
export class LlmNames {
  private readonly names: string[] = [];
  private readonly bytes: Buffer[] = [];
  private readonly numbers = new Map<string, number>();

  numberOf(name: string): number {
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    const number = this.names.length;
    this.numbers.set(name, number);
    this.names.push(name);
    this.bytes.push(Buffer.from(name));
    return number;
  }

  /** Most answers have few LLMs: their bytes are compared before a string is made. */
  numberOfBytes(source: Buffer, start: number, end: number): number {
    const searched = Math.min(this.bytes.length, SEARCHED);
    for (let number = 0; number < searched; number++) {
      if (isAt(this.bytes[number]!, source, start, end)) return number;
    }
    return this.numberOf(source.toString("utf8", start, end));
  }

  nameOf(number: number): string {
    return this.names[number]!;
  }
}

function isAt(name: Buffer, source: Buffer, start: number, end: number): boolean {
  if (name.length !== end - start) return false;
  for (let at = 0; at < name.length; at++) if (name[at] !== source[start + at]) return false;
  return true;
}

/** For one call at a time: which entry holds which LLM. Forgetting costs what was remembered, not the table's size. */
export class EntryOfLlm {
  private entries = new Int32Array(64).fill(NONE);
  private remembered = new Int32Array(64);
  private count = 0;

  get(llm: number): number {
    return this.entries[llm] ?? NONE;
  }

  set(llm: number, entry: number): void {
    if (llm >= this.entries.length) this.grow(llm);
    this.entries[llm] = entry;
    this.remembered[this.count++] = llm;
  }

  clear(): void {
    for (let at = 0; at < this.count; at++) this.entries[this.remembered[at]!] = NONE;
    this.count = 0;
  }

  private grow(llm: number): void {
    const size = Math.max(llm + 1, this.entries.length * 2);
    this.entries = resize(this.entries, new Int32Array(size).fill(NONE));
    this.remembered = resize(this.remembered, new Int32Array(size));
  }
}
