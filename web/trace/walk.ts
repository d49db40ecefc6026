import type { Ledger } from "./ledger.ts";
import { pathTo, type Row } from "./rows.ts";
import type { TreeNode } from "./tree.ts";

/** All calls from top to bottom, whatever is folded. */
export function* inOrder(roots: readonly TreeNode[]): Generator<TreeNode, undefined> {
  const stack = roots.toReversed();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    yield node;
    for (const child of node.children.toReversed()) stack.push(child);
  }
}

/** The next call after `id`, from the top again after the last, that is what is looked for. */
export function nextOf(
  roots: readonly TreeNode[],
  id: string | undefined,
  isWanted: (node: TreeNode) => boolean,
): TreeNode | undefined {
  let first: TreeNode | undefined;
  let passed = id === undefined;
  for (const node of inOrder(roots)) {
    if (passed && isWanted(node)) return node;
    if (first === undefined && isWanted(node)) first = node;
    if (node.call.id === id) passed = true;
  }
  return first;
}

/** From a call down to the one call below it that made the bill: always to the dearest child, while it is dearer than its parent alone. */
export function dearestBelow(start: TreeNode, ledger: Ledger): TreeNode {
  const cost = (node: TreeNode): number => ledger.total(node).usd ?? 0;
  let at = start;
  for (;;) {
    const dearest = at.children.reduce<TreeNode | undefined>(
      (best, child) => (best === undefined || cost(child) > cost(best) ? child : best),
      undefined,
    );
    if (dearest === undefined || cost(dearest) === 0 || cost(dearest) < (ledger.own(at).usd ?? 0)) return at;
    at = dearest;
  }
}

/** Where right leads from a row that is open: to the first below it. Where left leads from one that is not: to what it hangs on. */
export function rowBelow(rows: readonly Row[], index: number): number {
  const [row, next] = [rows[index], rows[index + 1]];
  return row !== undefined && next !== undefined && next.depth > row.depth ? index + 1 : index;
}

export function rowAbove(rows: readonly Row[], index: number): number {
  const depth = rows[index]?.depth ?? 0;
  for (let at = index - 1; at >= 0; at--) if ((rows[at]?.depth ?? 0) < depth) return at;
  return index;
}

export function nodeOfRow(row: Row | undefined): TreeNode | undefined {
  return row?.kind === "group" ? row.group.nodes[0] : row?.node;
}

export function nodeOf(id: string | undefined, roots: readonly TreeNode[]): TreeNode | undefined {
  return id === undefined ? undefined : pathTo(id, roots).at(-1);
}
