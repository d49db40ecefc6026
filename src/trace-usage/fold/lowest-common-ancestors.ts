import { release } from "../../shared/buffers.ts";
import { NONE } from "../table/call-table.ts";
import type { Forest } from "./forest.ts";

/** Reports of duplicate completions by completion, in tree order, and the lowest common ancestors of neighbours. */
export interface LowestCommonAncestors {
  readonly reports: Int32Array;
  /** Lowest common ancestor (or self) of a report and the previous one, or NONE. Numbers after the calls: cycles. */
  readonly at: Int32Array;
  /** Depth of that ancestor, or NONE. */
  readonly depths: Int32Array;
  /** Depth of every call in its tree. */
  readonly depthOf: Int32Array;
}

/** Finds the ancestors. Cost: O(calls + reports × log depth), iterative. */
export function lowestCommonAncestors(forest: Forest, completionOf: Int32Array): LowestCommonAncestors {
  const walk = walkTrees(forest);
  const offsets = offsetsByCompletion(completionOf);
  const common = {
    reports: new Int32Array(offsets.count),
    at: new Int32Array(offsets.count).fill(NONE),
    depths: new Int32Array(offsets.count).fill(NONE),
    depthOf: walk.depthOf,
  };
  /** Last report of each completion. */
  const lastAt = new Int32Array(offsets.next.length).fill(NONE);
  /** Positions in the walk with no shallower one after them: increasing depths. */
  const path = new Int32Array(walk.order.length);
  let length = 0;
  for (let position = 0; position < walk.order.length; position++) {
    const node = walk.order[position]!;
    while (length > 0 && depthAt(walk, path[length - 1]!) >= depthAt(walk, position)) length--;
    path[length++] = position;
    const completion = completionOf[node] ?? NONE;
    if (completion === NONE) continue;
    const index = offsets.next[completion]!++;
    common.reports[index] = node;
    const before = lastAt[completion]!;
    lastAt[completion] = position;
    if (before === NONE) continue;
    const highest = walk.order[firstAfter(path, length, before)]!;
    const lowest = walk.parentOf(highest);
    if (lowest === NONE) continue;
    common.at[index] = lowest;
    common.depths[index] = walk.depthOf[lowest]!;
  }
  release(walk.order, path, lastAt, offsets.next);
  return common;
}

/** Preorder walk of the trees, with an extra node above the calls of each cycle. */
interface Walk {
  readonly order: Int32Array;
  readonly depthOf: Int32Array;
  readonly parentOf: (node: number) => number;
}

function walkTrees(forest: Forest): Walk {
  const { parents, firstChild, nextSibling, cycles } = forest;
  const count = parents.length;
  const cycleOf = new Map(cycles.flatMap((cycle, number) => cycle.map((call) => [call, count + number])));
  const parentOf = (node: number): number =>
    node >= count ? NONE : parents[node] === NONE ? (cycleOf.get(node) ?? NONE) : parents[node]!;
  const order = new Int32Array(count + cycles.length);
  const depthOf = new Int32Array(count + cycles.length);
  let end = 0;
  const walkTree = (root: number, depth: number): void => {
    let call = root;
    for (depthOf[root] = depth; call !== NONE;) {
      order[end++] = call;
      let next = firstChild[call]!;
      if (next !== NONE) depthOf[next] = depthOf[call]! + 1;
      for (let up = call; next === NONE && up !== root; up = parents[up]!) {
        next = nextSibling[up]!;
        if (next !== NONE) depthOf[next] = depthOf[up]!;
      }
      call = next;
    }
  };
  for (let call = 0; call < count; call++) if (parentOf(call) === NONE) walkTree(call, 0);
  for (const [number, cycle] of cycles.entries()) {
    order[end++] = count + number;
    for (const call of cycle) walkTree(call, 1);
  }
  return { order, depthOf, parentOf };
}

function depthAt({ order, depthOf }: Walk, position: number): number {
  return depthOf[order[position]!]!;
}

/** Finds the first of some ascending numbers above a bound, by binary search. */
function firstAfter(ascending: Int32Array, length: number, bound: number): number {
  let from = 0;
  let to = length - 1;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (ascending[middle]! > bound) to = middle;
    else from = middle + 1;
  }
  return ascending[from]!;
}

/** Computes the offset of each completion's reports when grouped by completion. */
function offsetsByCompletion(completionOf: Int32Array): { next: Int32Array; count: number } {
  let completions = 0;
  for (const completion of completionOf) if (completion >= completions) completions = completion + 1;
  const next = new Int32Array(completions);
  for (const completion of completionOf) if (completion !== NONE) next[completion]!++;
  let count = 0;
  for (let completion = 0; completion < completions; completion++) {
    const reports = next[completion]!;
    next[completion] = count;
    count += reports;
  }
  return { next, count };
}
