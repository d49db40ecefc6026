import { buildForest } from "../fold/forest.ts";
import { NONE, usageStartOf, type CallTable } from "../table/call-table.ts";
import { UsageEntries } from "../table/usage-entries.ts";

/** Table of a call and its descendants. */
export interface Subtree {
  readonly calls: CallTable;
  /** Number of each call in the original table; the call itself is first. */
  readonly numbers: readonly number[];
}

/** Extracts a subtree; each call of a cycle contains the whole cycle. */
export function subtreeOf(call: number, calls: CallTable): Subtree {
  const forest = buildForest(calls.parents);
  const inside = new Set([call, ...(forest.cycles.find((cycle) => cycle.includes(call)) ?? [])]);
  for (const one of inside) {
    for (let child = forest.firstChild[one]!; child !== NONE; child = forest.nextSibling[child]!) {
      inside.add(child);
    }
  }
  const numbers = [...inside];
  return { calls: tableOf(numbers, calls), numbers };
}

function tableOf(numbers: readonly number[], calls: CallTable): CallTable {
  const indexes = new Map(numbers.map((number, index) => [number, index]));
  const usage = new UsageEntries();
  const usageEnd = Int32Array.from(numbers, (number) => {
    for (let used = usageStartOf(calls, number); used < calls.usageEnd[number]!; used++)
      usage.copy(calls.usage, used);
    return usage.length;
  });
  const { ids, completionOf } = calls;
  return {
    ...calls,
    count: numbers.length,
    ids: {
      starts: Uint32Array.from(numbers, (number) => ids.starts[number]!),
      ends: Uint32Array.from(numbers, (number) => ids.ends[number]!),
    },
    parents: Int32Array.from(numbers, (number) => indexes.get(calls.parents[number]!) ?? NONE),
    flags: Uint8Array.from(numbers, (number) => calls.flags[number]!),
    startedAtUs: Float64Array.from(numbers, (number) => calls.startedAtUs[number]!),
    usageEnd,
    usage,
    completionOf:
      completionOf === undefined ? undefined : Int32Array.from(numbers, (number) => completionOf[number]!),
  };
}
