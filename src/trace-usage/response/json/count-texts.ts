import type { ByteWriter } from "../bytes/byte-writer.ts";
import type { LlmDictionary } from "../../table/llm-dictionary.ts";
import { COUNT_SLOTS, countFields } from "../../../usage/count-fields.ts";

/** Four bits hold the width of a whole number below 2^31. */
const WIDTH_BITS = 4;
const NOT_DIGITS = -1;
/** How many an answer keeps. */
const MAX_TEMPLATES = 10_000;

/** A text with numbers in it, whose digits are written over for each use. */
interface Template {
  readonly text: Buffer;
  /** How far before the text's end the digits of each number end. */
  readonly fromEnd: Int32Array;
}

/**
 * Writes `"llm":{"requests":1,…`, the name and the counts of an entry. Entries of one LLM whose counts have the same widths
 * differ in digits alone: what is written is a copy, and digits over it, in three quarters of the time.
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

  /** Of counts that are not written in digits: for this entry alone. */
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
    const pieces = countFields.map(
      ({ wire }, slot) => `${slot === 0 ? opening : ","}"${wire}":${counts[slot]}`,
    );
    return templateOf(pieces, this.tail);
  }
}

/** The text of some pieces, each of which ends with a number, and a tail. */
function templateOf(pieces: readonly string[], tail: string): Template {
  const fromEnd = new Int32Array(pieces.length);
  let rest = Buffer.byteLength(tail);
  for (let piece = pieces.length - 1; piece >= 0; piece--) {
    fromEnd[piece] = rest;
    rest += Buffer.byteLength(pieces[piece]!);
  }
  return { text: Buffer.from(pieces.join("") + tail), fromEnd };
}

/** The widths of an entry's counts, packed. */
function widthsOf(counts: Float64Array, at: number): number {
  let widths = 0;
  for (let slot = 0; slot < COUNT_SLOTS; slot++) {
    const count = counts[at + slot]!;
    if ((count | 0) !== count || count < 0) return NOT_DIGITS;
    widths = (widths << WIDTH_BITS) | widthOf(count);
  }
  return widths;
}

/** How many digits a whole number below 2^31 has. */
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
