import type { TreeNode } from "./tree.ts";

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
  readonly name: string;
  readonly nodes: readonly TreeNode[];
  /** Of the nodes themselves. */
  readonly failed: number;
  readonly running: boolean;
  readonly fromMs: number;
  readonly toMs: number;
}

/** So many siblings of one name are shown as one line. */
const LIKE_SIBLINGS = 4;

/** What is open: calls are at first, groups are not; `changed` has the keys that are the other way. */
export interface Folding {
  readonly changed: ReadonlySet<string>;
  /** Groups are open at first too. */
  readonly groupsOpen: boolean;
}

interface Pending {
  readonly node: TreeNode;
  /** Of the group it stands in. */
  readonly indent: number;
}

/** The rows that can be seen when nothing but folding hides them. */
export function rowsOf(roots: readonly TreeNode[], { changed, groupsOpen }: Folding): readonly Row[] {
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
const grouped = new WeakMap<readonly TreeNode[], readonly Entry[]>();

/** Like siblings together, where the first of them stands. Found once: a call may have a hundred thousand below it. */
function groupsIn(siblings: readonly TreeNode[], parent: string): readonly Entry[] {
  if (siblings.length < LIKE_SIBLINGS) return siblings;
  const entries = grouped.get(siblings) ?? findGroups(siblings, parent);
  grouped.set(siblings, entries);
  return entries;
}

function findGroups(siblings: readonly TreeNode[], parent: string): readonly Entry[] {
  const byName = Map.groupBy(siblings, (node) => node.call.name);
  return siblings.flatMap((node): Entry[] => {
    const { name } = node.call;
    const alike = byName.get(name) ?? [];
    if (alike.length < LIKE_SIBLINGS) return [node];
    return alike[0] === node ? [groupOf(groupKey(parent, name), alike)] : [];
  });
}

function groupOf(key: string, nodes: readonly TreeNode[]): Group {
  let [failed, running, fromMs, toMs] = [0, false, Infinity, -Infinity];
  for (const { call } of nodes) {
    if (call.exception !== null) failed++;
    if (call.endMs === null) running = true;
    fromMs = Math.min(fromMs, call.startMs);
    toMs = Math.max(toMs, call.endMs ?? call.startMs, call.startMs);
  }
  return { key, name: nodes[0]?.call.name ?? "", nodes, failed, running, fromMs, toMs };
}

export function groupKey(parent: string, name: string): string {
  return `${parent}\n${name}`;
}

/** What has to be open for a call to be seen. */
export function openedFor(
  call: { readonly id: string },
  roots: readonly TreeNode[],
  folding: Folding,
): ReadonlySet<string> {
  const path = pathTo(call.id, roots);
  const changed = new Set(folding.changed);
  path.forEach((node, at) => {
    if (at < path.length - 1) changed.delete(node.call.id);
    const siblings = at === 0 ? roots : (path[at - 1]?.children ?? []);
    const alike = siblings.filter((sibling) => sibling.call.name === node.call.name);
    if (alike.length < LIKE_SIBLINGS) return;
    const key = groupKey(at === 0 ? "" : (path[at - 1]?.call.id ?? ""), node.call.name);
    if (folding.groupsOpen) changed.delete(key);
    else changed.add(key);
  });
  return changed;
}

/** From a root down to the call; nothing when it is not there. */
export function pathTo(id: string, roots: readonly TreeNode[]): readonly TreeNode[] {
  const above = new Map<TreeNode, TreeNode>();
  const stack = [...roots];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.call.id === id) {
      const path: TreeNode[] = [];
      for (let at: TreeNode | undefined = node; at !== undefined; at = above.get(at)) path.unshift(at);
      return path;
    }
    for (const child of node.children) {
      above.set(child, node);
      stack.push(child);
    }
  }
  return [];
}
