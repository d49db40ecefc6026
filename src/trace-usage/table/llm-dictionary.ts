import { NONE } from "./call-table.ts";
import { resize } from "../../shared/buffers.ts";
import { StringDictionary } from "./string-dictionary.ts";
import { QuotedText } from "./quoted-text.ts";
import { serviceInColumn } from "../../usage/usage-column.ts";
import type { Service } from "../../usage/usage.ts";

/** Names compared directly before the end of a name is searched; most responses have few LLMs. */
const COMPARED = 32;

/** Dictionary of the services (provider and tier) of one response, from 1; 0 if unknown. */
class ServiceDictionary {
  private readonly texts = new StringDictionary();
  private readonly services: (Service | null)[] = [null];

  /** Returns the number of a service encoded in the column `usage`. */
  numberOfBytes(source: Buffer, start: number, end: number): number {
    const number = this.texts.numberOfBytes(source, start, end) + 1;
    if (number === this.services.length)
      this.services.push(serviceInColumn(source.toString("utf8", start, end)));
    return number;
  }

  numberOf(service: Service | undefined): number {
    if (service === undefined) return 0;
    const number = this.texts.numberOf(JSON.stringify(service)) + 1;
    if (number === this.services.length) this.services.push(service);
    return number;
  }

  serviceOf(number: number): Service | undefined {
    return this.services[number] ?? undefined;
  }
}

/** Dictionary of the LLMs and services of one response. */
export class LlmDictionary extends StringDictionary {
  readonly services = new ServiceDictionary();
  private readonly first: QuotedText[] = [];

  /** Finds the LLM whose JSON name is at `start`; NONE if it is not one of the first, or has escapes. */
  numberAt(source: DataView, start: number): number {
    const { first } = this;
    while (first.length < Math.min(this.count, COMPARED))
      first.push(new QuotedText(this.textOf(first.length)));
    for (let number = 0; number < first.length; number++)
      if (first[number]!.isAt(source, start)) return number;
    return NONE;
  }

  /** Returns the byte length of the name found by `numberAt`. */
  lengthOf(number: number): number {
    return this.first[number]!.length;
  }
}

/** Map from LLM to entry, for one call at a time. Clearing costs O(stored entries). */
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
