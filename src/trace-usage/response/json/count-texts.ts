import type { ByteWriter } from "../bytes/byte-writer.ts";
import type { LlmDictionary } from "../../table/llm-dictionary.ts";
import { COUNT_SLOTS, countFields } from "../../../usage/count-fields.ts";

/** Four bits hold the width of an integer below 2^31. */
const WIDTH_BITS = 4;
const NOT_DIGITS = -1;
/** Templates cached per response. */
const MAX_TEMPLATES = 10_000;

/** Text with numbers whose digits are overwritten for each use. */
interface Template {
  readonly text: Buffer;
  /** Distance from the end of each number's digits to the end of the text. */
  readonly fromEnd: Int32Array;
}

/**
 * Writer of an entry's name and counts, `"llm":{"requests":1,…`. Copies a template per LLM and widths of counts and overwrites
 * its digits, which saves a quarter of the time.
 */
export class CountTexts {
  private readonly names: LlmDictionary;
  private readonly tail: string;
  /** By LLM, then by widths. */
  private readonly templates: Map<number, Template>[] = [];
  private templateCount = 0;

  /** `tail` follows the counts of every entry. */
  constructor(names: LlmDictionary, tail: string) {
    this.names = names;
    this.tail = tail;
  }

  write(llm: number, counts: Float64Array, at: number, writer: ByteWriter): void {
    const widths = widthsOf(counts, at);
    const template = this.templates[llm]?.get(widths) ?? this.templateOf(llm, counts, at, widths);
    writer.copy(template.text);
    if (widths === NOT_DIGITS) return;
    for (let slot = 0; slot < COUNT_SLOTS; slot++)
      writer.overwrite(template.fromEnd[slot]!, counts[at + slot]!);
  }

  /** Creates a template, cached unless a count is not an integer below 2^31. */
  private templateOf(llm: number, counts: Float64Array, at: number, widths: number): Template {
    const template = this.make(llm, counts.subarray(at, at + COUNT_SLOTS));
    if (widths !== NOT_DIGITS && this.templateCount < MAX_TEMPLATES) {
      this.templateCount++;
      (this.templates[llm] ??= new Map()).set(widths, template);
    }
    return template;
  }

  private make(llm: number, counts: Float64Array): Template {
    const opening = `${JSON.stringify(this.names.textOf(llm))}:{`;
    const members = countFields.map(
      ({ wire }, slot) => `${slot === 0 ? opening : ","}"${wire}":${counts[slot]}`,
    );
    return templateOf(members, this.tail);
  }
}

/** Joins members, each ending with a number, and a tail. */
function templateOf(members: readonly string[], tail: string): Template {
  const fromEnd = new Int32Array(members.length);
  let rest = Buffer.byteLength(tail);
  for (let member = members.length - 1; member >= 0; member--) {
    fromEnd[member] = rest;
    rest += Buffer.byteLength(members[member]!);
  }
  return { text: Buffer.from(members.join("") + tail), fromEnd };
}

/** Packs the widths of an entry's counts; `NOT_DIGITS` if one is not an integer below 2^31. */
function widthsOf(counts: Float64Array, at: number): number {
  let widths = 0;
  for (let slot = 0; slot < COUNT_SLOTS; slot++) {
    const count = counts[at + slot]!;
    if ((count | 0) !== count || count < 0) return NOT_DIGITS;
    widths = (widths << WIDTH_BITS) | widthOf(count);
  }
  return widths;
}

/** Counts the digits of an integer below 2^31. */
function widthOf(count: number): number {
  if (count < 10) return 1;
  if (count < 100) return 2;
  if (count < 1000) return 3;
  if (count < 10_000) return 4;
  if (count < 100_000) return 5;
  if (count < 1_000_000) return 6;
  if (count < 10_000_000) return 7;
  if (count < 100_000_000) return 8;
  return count < 1_000_000_000 ? 9 : 10;
}
