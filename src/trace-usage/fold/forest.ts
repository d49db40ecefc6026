import { release } from "../../shared/buffers.ts";
import { NONE } from "../table/call-table.ts";

/** Trees of calls, numbered in the order of the table. */
export interface Forest {
  /** Parent of each call; NONE for a root. Cycles are cut: their calls are roots. */
  readonly parents: Int32Array;
  /** All calls, every parent before its children. */
  readonly order: Int32Array;
  /** Calls that are each other's ancestors. */
  readonly cycles: readonly (readonly number[])[];
  readonly firstChild: Int32Array;
  readonly nextSibling: Int32Array;
}

/** The calls of trees, and above those of each cycle another node, numbered after the calls. */
export interface Nodes {
  /** Parent of a node, or NONE. */
  readonly parentOf: (node: number) => number;
  readonly depths: Int32Array;
  /** Root of each node's tree. */
  readonly roots: Int32Array;
}

export function nodesOf({ parents, order, cycles }: Forest): Nodes {
  const count = parents.length;
  const cycleOf = new Map(cycles.flatMap((cycle, number) => cycle.map((call) => [call, count + number])));
  const parentOf = (node: number): number => {
    if (node >= count) return NONE;
    return parents[node] === NONE ? (cycleOf.get(node) ?? NONE) : parents[node]!;
  };
  const depths = new Int32Array(count + cycles.length);
  const roots = Int32Array.from(depths, (_, node) => node);
  for (const call of order) {
    const parent = parentOf(call);
    if (parent === NONE) continue;
    depths[call] = depths[parent]! + 1;
    roots[call] = roots[parent]!;
  }
  return { parentOf, depths, roots };
}

/** Builds the forest; a call that is its own parent is a root. Cost: O(calls). */
export function buildForest(namedParents: Int32Array): Forest {
  const parents = namedParents.map((parent, call) => (parent === call ? NONE : parent));
  return forestOf(parents, cutCycles(parents));
}

/** Builds the forest of parents without cycles. */
export function forestOf(parents: Int32Array, cycles: readonly (readonly number[])[] = []): Forest {
  const firstChild = new Int32Array(parents.length).fill(NONE);
  const nextSibling = new Int32Array(parents.length).fill(NONE);
  for (let call = parents.length - 1; call >= 0; call--) {
    const parent = parents[call]!;
    if (parent === NONE) continue;
    nextSibling[call] = firstChild[parent]!;
    firstChild[parent] = call;
  }
  return { parents, cycles, firstChild, nextSibling, order: parentsFirst(parents, firstChild, nextSibling) };
}

/** Finds and cuts cycles by walking up from every call once. */
function cutCycles(parents: Int32Array): number[][] {
  const walkOf = new Int32Array(parents.length);
  const cycles: number[][] = [];
  for (let start = 0; start < parents.length; start++) {
    const walk = start + 1;
    let call = start;
    while (call !== NONE && walkOf[call] === 0) {
      walkOf[call] = walk;
      call = parents[call]!;
    }
    if (call === NONE || walkOf[call] !== walk) continue;
    const cycle: number[] = [];
    for (let member = call; parents[member] !== NONE;) {
      cycle.push(member);
      const next = parents[member]!;
      parents[member] = NONE;
      member = next;
    }
    cycles.push(cycle);
  }
  release(walkOf);
  return cycles;
}

function parentsFirst(parents: Int32Array, firstChild: Int32Array, nextSibling: Int32Array): Int32Array {
  const order = new Int32Array(parents.length);
  let end = 0;
  for (let call = 0; call < parents.length; call++) if (parents[call] === NONE) order[end++] = call;
  for (let at = 0; at < end; at++) {
    for (let child = firstChild[order[at]!]!; child !== NONE; child = nextSibling[child]!)
      order[end++] = child;
  }
  return order;
}
