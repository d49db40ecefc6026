import type { CallTree, TraceCall } from "./call-tree.ts";
import { groupsOf } from "./groups.ts";
import { knownTextsOf, NOT_FOUND, textColumnOf, textIndexOf } from "./text-column.ts";

/**
 * The calls of a trace, oldest first, under their parents. A call without a known parent is a root; of a cycle, the call
 * that began first is. Of several calls with one id, the first counts.
 */
export function treeOf(all: readonly TraceCall[]): CallTree {
  const positions = new Map<string, number>();
  const calls = all.filter(({ id }) => !positions.has(id) && positions.set(id, positions.size));
  const { order, parents } = inTreeOrder(parentsOf(calls, positions));
  const sorted: TraceCall[] = [];
  for (const at of order) sorted.push(calls[at]!);
  const ids = textColumnOf(sorted.map(({ id }) => id));
  const count = sorted.length;
  const columns = {
    ids,
    idIndex: textIndexOf(ids),
    names: knownTextsOf(sorted.map(({ name }) => name)),
    exceptions: knownTextsOf(sorted.map(({ exception }) => exception)),
    startMs: new Float64Array(count).map((_, position) => sorted[position]!.startMs),
    endMs: new Float64Array(count).map((_, position) => sorted[position]!.endMs ?? NaN),
    parents,
    ...sumsOf(sorted, parents),
  };
  return { ...columns, groups: groupsOf(columns) };
}

function parentsOf(
  calls: readonly TraceCall[],
  positions: ReadonlyMap<string, number>,
): Int32Array<ArrayBuffer> {
  return new Int32Array(calls.length).map((_, at) => {
    const { id, parentId } = calls[at]!;
    return parentId === null || parentId === id ? NOT_FOUND : (positions.get(parentId) ?? NOT_FOUND);
  });
}

interface TreeOrder {
  /** The call at each position of the tree. */
  readonly order: Uint32Array<ArrayBuffer>;
  /** By position in the tree. */
  readonly parents: Int32Array<ArrayBuffer>;
}

/** Iterative: a trace may be a chain of a hundred thousand calls. */
function inTreeOrder(parentOf: Int32Array<ArrayBuffer>): TreeOrder {
  const count = parentOf.length;
  // for each call its youngest child, and for each child the next older one
  const youngest = new Int32Array(count).fill(NOT_FOUND);
  const older = new Int32Array(count).fill(NOT_FOUND);
  for (let at = 0; at < count; at++) {
    const parent = parentOf[at]!;
    if (parent === NOT_FOUND) continue;
    older[at] = youngest[parent]!;
    youngest[parent] = at;
  }
  const order = new Uint32Array(count);
  const positions = new Int32Array(count).fill(NOT_FOUND);
  const stack = new Int32Array(count);
  let reached = 0;
  const reach = (root: number): void => {
    stack[0] = root;
    for (let height = 1; height > 0;) {
      const at = stack[--height]!;
      positions[at] = reached;
      order[reached++] = at;
      for (let child = youngest[at]!; child !== NOT_FOUND; child = older[child]!)
        if (parentOf[child] === at) stack[height++] = child;
    }
  };
  for (let at = 0; at < count; at++) if (parentOf[at] === NOT_FOUND) reach(at);
  for (let at = 0; at < count; at++) {
    if (positions[at] !== NOT_FOUND) continue;
    parentOf[at] = NOT_FOUND;
    reach(at);
  }
  const parents = new Int32Array(count).map((_, position) => {
    const parent = parentOf[order[position]!]!;
    return parent === NOT_FOUND ? NOT_FOUND : positions[parent]!;
  });
  return { order, parents };
}

function sumsOf(sorted: readonly TraceCall[], parents: Int32Array): Pick<CallTree, "calls" | "errors"> {
  const calls = new Uint32Array(sorted.length).fill(1);
  const errors = new Uint32Array(sorted.length).map((_, position) =>
    Number(sorted[position]!.exception !== null),
  );
  for (let position = sorted.length - 1; position > 0; position--) {
    const parent = parents[position]!;
    if (parent === NOT_FOUND) continue;
    calls[parent]! += calls[position]!;
    errors[parent]! += errors[position]!;
  }
  return { calls, errors };
}
