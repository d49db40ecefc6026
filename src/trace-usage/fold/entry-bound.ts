import { usageStartOf, NONE, type CallTable } from "../table/call-table.ts";
import type { Forest } from "./forest.ts";

/** Up to here, memory does not matter, and the number of totals and LLMs is a sufficient bound. */
const FEW_ENTRIES = 10_000;

/**
 * Computes an upper bound of the entries in totals before summing: per call, the smaller of the number of LLMs and of usages
 * in its subtree. A chain of calls with distinct LLMs needs O(length²) entries. `hasTotal`: calls with a total. Cost: O(calls
 * + usages).
 */
export function entryBound(
  calls: CallTable,
  { order, parents, cycles }: Forest,
  hasTotal: (call: number) => boolean,
): number {
  const llms = countLlms(calls);
  const few = countTotals(calls, hasTotal) * llms;
  if (cycles.length === 0 && few <= FEW_ENTRIES) return few;
  const usages = new Int32Array(calls.count);
  let bound = 0;
  for (let at = order.length - 1; at >= 0; at--) {
    const call = order[at]!;
    usages[call]! += calls.usageEnd[call]! - usageStartOf(calls, call);
    if (hasTotal(call)) bound += Math.min(llms, usages[call]!);
    const parent = parents[call]!;
    if (parent !== NONE) usages[parent]! += usages[call]!;
  }
  for (const cycle of cycles)
    bound += Math.min(
      llms,
      cycle.reduce((sum, call) => sum + usages[call]!, 0),
    );
  return bound;
}

function countTotals({ count }: CallTable, hasTotal: (call: number) => boolean): number {
  let totals = 0;
  for (let call = 0; call < count; call++) if (hasTotal(call)) totals++;
  return totals;
}

function countLlms({ usage }: CallTable): number {
  const isNamed: boolean[] = [];
  let count = 0;
  for (let used = 0; used < usage.length; used++) {
    const llm = usage.llms[used]!;
    if (isNamed[llm] === true) continue;
    isNamed[llm] = true;
    count++;
  }
  return count;
}
