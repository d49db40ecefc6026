import { NONE, type CallTable } from "../table/call-table.ts";

const UNKNOWN = 0;
const KEPT = 1;
const WASTED = 2;
const VISITED = 3;

/**
 * Marks failed calls and the calls below them with 1. A cycle with a failed call is wasted as a whole. O(calls), iterative.
 */
export function wastedCalls(
  { count, parents }: Pick<CallTable, "count" | "parents">,
  isFailed: (call: number) => boolean,
): Uint8Array {
  const states = new Uint8Array(count);
  const path: number[] = [];
  for (let call = 0; call < count; call++) {
    let at = call;
    while (at !== NONE && states[at] === UNKNOWN && !isFailed(at)) {
      states[at] = VISITED;
      path.push(at);
      at = parents[at]!;
    }
    if (at !== NONE && states[at] === UNKNOWN) states[at] = WASTED;
    const found = at !== NONE && states[at] === WASTED ? WASTED : KEPT;
    while (path.length > 0) states[path.pop()!] = found;
  }
  return states.map((state) => Number(state === WASTED));
}
