import type { ByteWriter } from "./byte-writer.ts";
import { idOf, isFinished, isSelected, NONE, type CallTable } from "./call-table.ts";
import type { LlmNames } from "./llm-names.ts";
import type { RolledUp } from "./rollup.ts";
import { COST_SLOTS, COSTS, type Totals } from "./totals.ts";
import { COUNT_SLOTS, COUNTS } from "./usage-entries.ts";

/** The answer's text up to the first call. */
export const OPENING = Buffer.from('{"call_usage":{');

/** The text after the last call. Ids are sorted. */
export function closing(unfinishedIds: readonly string[]): Buffer {
  return Buffer.from(`},"unfinished_call_ids":${JSON.stringify(unfinishedIds.toSorted())}}`);
}

const COMMA = Buffer.from(",");
const BEFORE_ENTRIES = Buffer.from(":{");
const CLOSE = Buffer.from("}");
const beforeCount = COUNTS.map((name) => Buffer.from(`,"${name}":`));
const beforeCost = COSTS.map((name) => Buffer.from(`,"${name}":`));
const freeOfCost = COSTS.map((name) => Buffer.from(`,"${name}":0`));
const unknownCost = COSTS.map((name) => Buffer.from(`,"${name}":null`));
const withoutCosts = Buffer.concat([...unknownCost, CLOSE]);

/**
 * Writes `"id":{"llm":{…}},…` for the selected calls, yields what is written whenever that is a piece, and returns what
 * separates the next call from them.
 * Built here because the text is the bill: a serialiser takes several times as long.
 */
export function* writeCallUsage(
  calls: CallTable,
  { totals }: RolledUp,
  to: { writer: ByteWriter; names: LlmNames; pieceBytes: number; separator: Buffer },
): Generator<Buffer, Buffer> {
  const { writer, names } = to;
  let { separator } = to;
  for (let call = 0; call < calls.count; call++) {
    if (!isSelected(calls, call)) continue;
    writer.copy(separator);
    separator = COMMA;
    writer.string(calls.source, calls.ids.starts[call]!, calls.ids.ends[call]!);
    writer.copy(BEFORE_ENTRIES);
    writeEntries(totals.heads[call]!, totals, names, writer);
    if (writer.length >= to.pieceBytes) yield writer.take();
  }
  return separator;
}

function writeEntries(head: number, totals: Totals, names: LlmNames, writer: ByteWriter): void {
  for (let entry = head; entry !== NONE; entry = totals.next[entry]!) {
    if (entry !== head) writer.copy(COMMA);
    writer.copy(names.before(totals.llms[entry]!));
    writeEntry(totals, entry, writer);
  }
  writer.copy(CLOSE);
}

function writeEntry(totals: Totals, entry: number, writer: ByteWriter): void {
  writer.number(totals.counts[entry * COUNT_SLOTS]!);
  for (let slot = 1; slot < COUNT_SLOTS; slot++) {
    writer.copy(beforeCount[slot]!);
    writer.number(totals.counts[entry * COUNT_SLOTS + slot]!);
  }
  if (!totals.withCosts) {
    writer.copy(withoutCosts);
    return;
  }
  for (let slot = 0; slot < COST_SLOTS; slot++) {
    const cost = totals.costs[entry * COST_SLOTS + slot]!;
    if (cost === 0) writer.copy(freeOfCost[slot]!);
    else if (Number.isFinite(cost)) {
      writer.copy(beforeCost[slot]!);
      writer.dollars(cost);
    } else writer.copy(unknownCost[slot]!);
  }
  writer.copy(CLOSE);
}

/** Ids of the calls that have not ended, among the selected ones and everything below them. */
export function unfinishedIds(calls: CallTable, { forest }: RolledUp): readonly string[] {
  const covered = new Uint8Array(calls.count);
  for (const cycle of forest.cycles) {
    const some = cycle.some((call) => isSelected(calls, call));
    for (const call of cycle) covered[call] = some ? 1 : 0;
  }
  const ids: string[] = [];
  for (const call of forest.order) {
    const parent = forest.parents[call]!;
    if (isSelected(calls, call) || (parent !== NONE && covered[parent] === 1)) covered[call] = 1;
    if (covered[call] === 1 && !isFinished(calls, call)) ids.push(idOf(calls, call));
  }
  return ids;
}
