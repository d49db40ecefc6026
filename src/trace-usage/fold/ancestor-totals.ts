import { needsTotal, isSelected, NONE, type CallTable } from "../table/call-table.ts";

const UNKNOWN = -2;
const WALKED = -3;

/**
 * Finds for each call the nearest ancestor with a total, or NONE: if only selected calls need totals, usage is added there.
 * `undefined` for cycles or shared completions, where this is not sufficient, and if most calls are selected. Cost:
 * O(calls), iterative.
 */
export function nearestAncestorTotals(calls: CallTable): Int32Array | undefined {
  if (calls.completionOf !== undefined || areMostSelected(calls)) return undefined;
  const { parents } = calls;
  const above = new Int32Array(calls.count).fill(UNKNOWN);
  for (let start = 0; start < calls.count; start++) {
    let top = start;
    while (above[top] === UNKNOWN) {
      const parent = parents[top]!;
      if (parent === NONE || parent === top) above[top] = NONE;
      else {
        above[top] = WALKED;
        top = parent;
      }
    }
    if (above[top] === WALKED) return undefined;
    for (let call = start; call !== top;) {
      let next = parents[call]!;
      while (next !== top && !needsTotal(calls, next)) next = parents[next]!;
      const total = needsTotal(calls, next) ? next : above[top]!;
      for (; call !== next; call = parents[call]!) above[call] = total;
    }
  }
  return above;
}

function areMostSelected(calls: CallTable): boolean {
  let selected = 0;
  for (let call = 0; call < calls.count; call++) if (isSelected(calls, call)) selected++;
  return selected * 2 > calls.count;
}
