import type { CallRow } from "./call-row.ts";
import { NONE } from "./forest.ts";
import type { LlmNames } from "./llm-names.ts";
import type { RolledUpTrace } from "./rollup.ts";
import { COST_SLOTS, COSTS, COUNT_SLOTS, COUNTS, type Totals } from "./totals.ts";

/** The answer's text up to the first call. */
export const OPENING = '{"call_usage":{';

/** The text after the last call. Ids are sorted. */
export function closing(unfinishedIds: readonly string[]): string {
  return `},"unfinished_call_ids":${JSON.stringify(unfinishedIds.toSorted())}}`;
}

/**
 * `"id":{"llm":{…}},…` for the selected calls of a trace. The text is built here because it is the bill: a
 * serialiser takes several times as long.
 */
export function callUsageText(calls: readonly CallRow[], trace: RolledUpTrace, names: LlmNames): string {
  const { totals } = trace;
  const written = new Map<number, string>();
  let text = "";
  calls.forEach((call, number) => {
    if (!call.selected) return;
    const head = totals.heads[number]!;
    let usage = written.get(head);
    if (usage === undefined) {
      usage = usageText(head, totals, names);
      if (head !== NONE && call.usage.length === 0) written.set(head, usage);
    }
    text += `${text === "" ? "" : ","}${JSON.stringify(call.id)}:${usage}`;
  });
  return text;
}

function usageText(head: number, totals: Totals, names: LlmNames): string {
  let text = "";
  for (let entry = head; entry !== NONE; entry = totals.next[entry]!) {
    const comma = text === "" ? "" : ",";
    text += `${comma}${names.quoted(totals.llms[entry]!)}:${entryText(totals, entry)}`;
  }
  return `{${text}}`;
}

function entryText({ counts, costs }: Totals, entry: number): string {
  let text = "";
  for (let slot = 0; slot < COUNT_SLOTS; slot++) {
    text += `${slot === 0 ? "{" : ","}"${COUNTS[slot]!}":${counts[entry * COUNT_SLOTS + slot]!}`;
  }
  for (let slot = 0; slot < COST_SLOTS; slot++) {
    const cost = costs[entry * COST_SLOTS + slot]!;
    text += `,"${COSTS[slot]!}":${Number.isFinite(cost) ? cost : "null"}`;
  }
  return `${text}}`;
}

/** Ids of the calls that have not ended, among the selected ones and everything below them. */
export function unfinishedIds(calls: readonly CallRow[], { forest }: RolledUpTrace): readonly string[] {
  const covered = new Uint8Array(calls.length);
  for (const cycle of forest.cycles) {
    const some = cycle.some((call) => calls[call]!.selected);
    for (const call of cycle) covered[call] = some ? 1 : 0;
  }
  const ids: string[] = [];
  for (const number of forest.order) {
    const call = calls[number]!;
    const parent = forest.parents[number]!;
    if (call.selected || (parent !== NONE && covered[parent] === 1)) covered[number] = 1;
    if (covered[number] === 1 && !call.finished) ids.push(call.id);
  }
  return ids;
}
