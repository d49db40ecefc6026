import type { TraceCall } from "./trace-call.ts";

export interface TreeNode {
  readonly call: TraceCall;
  readonly children: readonly TreeNode[];
  readonly depth: number;
  /** Of itself and all below it. */
  readonly calls: number;
  readonly errors: number;
}

interface Growing extends TreeNode {
  children: Growing[];
  depth: number;
  calls: number;
  errors: number;
}

const UNREACHED = -1;
/** Shared by all calls without children, which most are. Never changed. */
const NONE: Growing[] = [];

/**
 * The calls of a trace under their parents, siblings in the order they began. A call whose parent is not there is a root; of a
 * circle, the call that began first is.
 */
export function treeOf(calls: readonly TraceCall[]): readonly TreeNode[] {
  const inOrder = calls.toSorted((a, b) => a.startMs - b.startMs || (a.id < b.id ? -1 : 1));
  const nodes = new Map<string, Growing>();
  for (const call of inOrder)
    nodes.set(call.id, { call, children: NONE, depth: UNREACHED, calls: 1, errors: 0 });
  const roots: Growing[] = [];
  for (const node of nodes.values()) {
    const parent = node.call.parentId === null ? undefined : nodes.get(node.call.parentId);
    if (parent === undefined || parent === node) roots.push(node);
    else if (parent.children === NONE) parent.children = [node];
    else parent.children.push(node);
  }
  for (const root of roots) reach(root);
  for (const node of nodes.values()) {
    if (node.depth !== UNREACHED) continue;
    cutOff(node, nodes);
    roots.push(node);
    reach(node);
  }
  return roots;
}

function cutOff(node: Growing, nodes: ReadonlyMap<string, Growing>): void {
  const siblings = nodes.get(node.call.parentId ?? "")?.children ?? [];
  siblings.splice(siblings.indexOf(node), 1);
}

/** Depths on the way down, sums on the way up: iterative, for a trace may be a chain of a hundred thousand. */
function reach(root: Growing): void {
  root.depth = 0;
  const order = [root];
  for (let at = 0; at < order.length; at++) {
    const node = order[at];
    if (node === undefined) break;
    for (const child of node.children) {
      child.depth = node.depth + 1;
      order.push(child);
    }
  }
  for (const node of order.toReversed()) {
    node.errors = node.call.exception === null ? 0 : 1;
    for (const child of node.children) {
      node.calls += child.calls;
      node.errors += child.errors;
    }
  }
}

/** From where the trace begins to where it ends; what still runs goes on until now. */
export function extentOf(
  calls: readonly TraceCall[],
  now: number,
): { readonly fromMs: number; readonly toMs: number } {
  let [fromMs, toMs] = [Infinity, -Infinity];
  for (const { startMs, endMs } of calls) {
    fromMs = Math.min(fromMs, startMs);
    toMs = Math.max(toMs, endMs ?? Math.max(now, startMs), startMs);
  }
  return fromMs <= toMs ? { fromMs, toMs } : { fromMs: now, toMs: now };
}
