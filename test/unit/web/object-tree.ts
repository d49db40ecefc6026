import type { ExpandedState } from "../../../web/trace/tree/rows.ts";
import type { TraceCall } from "../../../web/trace/tree/call-tree.ts";

/** The tree as objects, as it is easiest to understand: what the columns are compared with. */

export interface TreeNode {
  readonly call: TraceCall;
  readonly children: readonly TreeNode[];
  readonly depth: number;
  /** Number of calls, descendants included. */
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

/** A line of the tree: a call, or like siblings in one. */
export type Row =
  | {
      readonly kind: "call";
      readonly key: string;
      readonly depth: number;
      readonly node: TreeNode;
      readonly open: boolean | undefined;
    }
  | {
      readonly kind: "group";
      readonly key: string;
      readonly depth: number;
      readonly group: Group;
      readonly open: boolean;
    };

/** Like siblings. */
export interface Group {
  readonly key: string;
  readonly nodes: readonly TreeNode[];
  /** Number of failed calls, descendants included. */
  readonly failed: number;
  /** Null: one of them still runs. */
  readonly endMs: number | null;
}

/** So many siblings of one name are shown as one line. */
const LIKE_SIBLINGS = 4;

interface Pending {
  readonly node: TreeNode;
  /** Indentation of the containing group. */
  readonly indent: number;
}

/** The rows that can be seen when nothing but folding hides them. */
export function rowsOf(roots: readonly TreeNode[], { changed, groupsOpen }: ExpandedState): readonly Row[] {
  const rows: Row[] = [];
  const stack: (Pending | Row)[] = [];
  const pushSiblings = (siblings: readonly TreeNode[], parent: string, indent: number): void => {
    const entries = groupsIn(siblings, parent).map((entry): Pending | Row => {
      if (!("nodes" in entry)) return { node: entry, indent };
      const { key, nodes } = entry;
      const open = groupsOpen !== changed.has(key);
      return { kind: "group", key, group: entry, open, depth: (nodes[0]?.depth ?? 0) + indent };
    });
    for (const entry of entries.toReversed()) stack.push(entry);
  };
  pushSiblings(roots, "", 0);
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if ("kind" in next) {
      rows.push(next);
      if (next.kind === "group" && next.open)
        for (const node of next.group.nodes.toReversed())
          stack.push({ node, indent: next.depth + 1 - node.depth });
      continue;
    }
    const { node, indent } = next;
    const open = node.children.length === 0 ? undefined : !changed.has(node.call.id);
    rows.push({ kind: "call", key: node.call.id, node, open, depth: node.depth + indent });
    if (open === true) pushSiblings(node.children, node.call.id, indent);
  }
  return rows;
}

type Entry = TreeNode | Group;
/** Like siblings together, where the first of them stands. */
function groupsIn(siblings: readonly TreeNode[], parent: string): readonly Entry[] {
  const byName = Map.groupBy(siblings, (node) => node.call.name);
  return siblings.flatMap((node): Entry[] => {
    const { name } = node.call;
    const alike = byName.get(name) ?? [];
    if (alike.length < LIKE_SIBLINGS) return [node];
    return alike[0] === node ? [groupOf(groupKey(parent, name), alike)] : [];
  });
}

function groupOf(key: string, nodes: readonly TreeNode[]): Group {
  let [failed, endMs]: [number, number | null] = [0, -Infinity];
  for (const { call, errors } of nodes) {
    failed += errors;
    endMs = endMs === null || call.endMs === null ? null : Math.max(endMs, call.endMs, call.startMs);
  }
  return { key, nodes, failed, endMs };
}

function groupKey(parent: string, name: string): string {
  return `${parent}\n${name}`;
}

/** All calls from top to bottom, whatever is folded. */
export function* inOrder(roots: readonly TreeNode[]): Generator<TreeNode, undefined> {
  const stack = roots.toReversed();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    yield node;
    for (const child of node.children.toReversed()) stack.push(child);
  }
}
