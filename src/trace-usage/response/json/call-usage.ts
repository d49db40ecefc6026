import { viewOf } from "../../../shared/buffers.ts";
import { ROWS_PER_STEP } from "../../../shared/steps.ts";
import type { ByteWriter } from "../bytes/byte-writer.ts";
import { idOf, isFinished, isSelected, NONE, type CallTable } from "../../table/call-table.ts";
import { withoutCosts, writeCosts, writePartial, type PrintedCosts } from "./cost-texts.ts";
import { CountTexts } from "./count-texts.ts";
import type { LlmDictionary } from "../../table/llm-dictionary.ts";
import type { RolledUp } from "../../fold/rollup.ts";
import type { Totals } from "../../fold/totals.ts";
import { COST_SLOTS } from "../../../prices/cost-fields.ts";
import { COUNT_SLOTS } from "../../../usage/count-fields.ts";

/** Response text before the first call. */
export const OPENING = Buffer.from('{"call_usage":{');

const UNFINISHED = Buffer.from('},"unfinished_call_ids":[');
const END = Buffer.from("]}");

/** Writes the ids of unfinished calls after the last call; yields chunks. */
export function* writeUnfinished(
  ids: readonly string[],
  { writer, chunkBytes }: { readonly writer: ByteWriter; readonly chunkBytes: number },
): Generator<Buffer> {
  writer.copy(UNFINISHED);
  for (let at = 0; at < ids.length; at += ROWS_PER_STEP) {
    if (at > 0) writer.byte(COMMA);
    writer.copy(Buffer.from(JSON.stringify(ids.slice(at, at + ROWS_PER_STEP)).slice(1, -1)));
    if (writer.length >= chunkBytes) yield writer.take();
  }
  writer.copy(END);
  yield writer.take();
}

const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Writers of an entry; without costs, `counts` writes null costs. */
interface EntryTexts {
  readonly counts: CountTexts;
  readonly withCosts: boolean;
  readonly printed: PrintedCosts;
}

export function entryTexts(
  names: LlmDictionary,
  { withCosts, printed }: Pick<EntryTexts, "withCosts" | "printed">,
): EntryTexts {
  return { counts: new CountTexts(names, withCosts ? "" : withoutCosts(printed)), withCosts, printed };
}

/**
 * Writes `"id":{"llm":{…}},…` for the selected calls, yields chunks, and returns true if no call has been written yet.
 * Written by hand because a serialiser takes several times as long.
 */
export function* writeCallUsage(
  calls: CallTable,
  { totals }: RolledUp,
  to: { writer: ByteWriter; texts: EntryTexts; chunkBytes: number; isFirst: boolean },
): Generator<Buffer, boolean> {
  const { writer, texts } = to;
  const source = viewOf(calls.source);
  let { isFirst } = to;
  for (let call = 0; call < calls.count; call++) {
    if (!isSelected(calls, call)) continue;
    if (!isFirst) writer.byte(COMMA);
    isFirst = false;
    writer.string(source, calls.ids.starts[call]!, calls.ids.ends[call]!);
    writer.byte(COLON);
    writer.byte(OPEN);
    writeEntries(totals.heads[call]!, totals, texts, writer);
    writer.byte(CLOSE);
    if (writer.length >= to.chunkBytes) yield writer.take();
  }
  return isFirst;
}

function writeEntries(head: number, totals: Totals, texts: EntryTexts, writer: ByteWriter): void {
  let isFirst = true;
  for (let entry = head; entry !== NONE; entry = totals.next[entry]!) {
    if (totals.onlyStatesCost(entry)) continue;
    if (!isFirst) writer.byte(COMMA);
    isFirst = false;
    texts.counts.write(totals.llms[entry]!, totals.counts, entry * COUNT_SLOTS, writer);
    if (texts.withCosts) writeCosts(totals.costs, entry * COST_SLOTS, { writer, printed: texts.printed });
    if (texts.withCosts && texts.printed === "all") writePartial(totals.unpriced[entry]! > 0, writer);
    writer.byte(CLOSE);
  }
}

/** Collects the ids of unfinished calls among the selected ones and their descendants. */
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
