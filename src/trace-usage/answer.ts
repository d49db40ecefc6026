import type { ByteWriter } from "./byte-writer.ts";
import { idOf, isFinished, isSelected, NONE, type CallTable } from "./call-table.ts";
import type { CountTexts } from "./count-texts.ts";
import type { RolledUp } from "./rollup.ts";
import { COST_SLOTS, COSTS, type Totals } from "./totals.ts";
import { COUNT_SLOTS } from "./usage-entries.ts";

/** The answer's text up to the first call. */
export const OPENING = Buffer.from('{"call_usage":{');

/** The text after the last call. Ids are sorted. */
export function closing(unfinishedIds: readonly string[]): Buffer {
  return Buffer.from(`},"unfinished_call_ids":${JSON.stringify(unfinishedIds.toSorted())}}`);
}

const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const beforeCost = COSTS.map((name) => Buffer.from(`,"${name}":`));
const freeOfCost = COSTS.map((name) => Buffer.from(`,"${name}":0`));
const unknownCost = COSTS.map((name) => Buffer.from(`,"${name}":null`));

/** What follows the counts of every entry while costs are not asked for. */
export const WITHOUT_COSTS = unknownCost.join("");

/**
 * Writes `"id":{"llm":{…}},…` for the selected calls, yields what is written whenever that is a piece, and returns whether
 * the next call will still be the first.
 * Built here because the text is the bill: a serialiser takes several times as long.
 */
export function* writeCallUsage(
  calls: CallTable,
  { totals }: RolledUp,
  to: { writer: ByteWriter; countTexts: CountTexts; pieceBytes: number; isFirst: boolean },
): Generator<Buffer, boolean> {
  const { writer, countTexts } = to;
  let { isFirst } = to;
  for (let call = 0; call < calls.count; call++) {
    if (!isSelected(calls, call)) continue;
    if (!isFirst) writer.byte(COMMA);
    isFirst = false;
    writer.string(calls.source, calls.ids.starts[call]!, calls.ids.ends[call]!);
    writer.byte(COLON);
    writer.byte(OPEN);
    writeEntries(totals.heads[call]!, totals, countTexts, writer);
    writer.byte(CLOSE);
    if (writer.length >= to.pieceBytes) yield writer.take();
  }
  return isFirst;
}

function writeEntries(head: number, totals: Totals, countTexts: CountTexts, writer: ByteWriter): void {
  for (let entry = head; entry !== NONE; entry = totals.next[entry]!) {
    if (entry !== head) writer.byte(COMMA);
    countTexts.write(totals.llms[entry]!, totals.counts, entry * COUNT_SLOTS, writer);
    if (totals.withCosts) writeCosts(totals.costs, entry * COST_SLOTS, writer);
    writer.byte(CLOSE);
  }
}

function writeCosts(costs: Float64Array, at: number, writer: ByteWriter): void {
  for (let slot = 0; slot < COST_SLOTS; slot++) {
    const cost = costs[at + slot]!;
    if (cost === 0) writer.copy(freeOfCost[slot]!);
    else if (Number.isFinite(cost)) {
      writer.copy(beforeCost[slot]!);
      writer.dollars(cost);
    } else writer.copy(unknownCost[slot]!);
  }
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
