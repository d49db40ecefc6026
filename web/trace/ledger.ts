import { NOTHING, sumOfUsages, totalOf, type Total, type UsageByLlm } from "../numbers/usage.ts";
import { inOrder } from "./walk.ts";
import type { TreeNode } from "./tree.ts";

/** What calls used, as the service says it: with everything below them, and by themselves. */
export interface Ledger {
  total(node: TreeNode): Total;
  /** What the call adds to the trace. Over all calls it is what the trace used. */
  own(node: TreeNode): Total;
  /** Of some calls with everything below them, each completion once. */
  sum(nodes: readonly TreeNode[]): Total;
}

type UsageByCall = Readonly<Record<string, UsageByLlm>>;

/** Everything is computed when it is first seen: of a hundred thousand rows few are. */
export function ledgerOf(totalUsage: UsageByCall, ownUsage: UsageByCall): Ledger {
  const totals = new WeakMap<TreeNode, Total>();
  const owns = new WeakMap<TreeNode, Total>();
  const total = (node: TreeNode): Total => {
    const known = totals.get(node) ?? totalOf(of(totalUsage, node));
    totals.set(node, known);
    return known;
  };
  const sums = new WeakMap<readonly TreeNode[], Total>();
  return {
    total,
    own(node) {
      const known = owns.get(node) ?? totalOf(of(ownUsage, node));
      owns.set(node, known);
      return known;
    },
    sum(nodes) {
      const known = sums.get(nodes) ?? sumOver(nodes);
      sums.set(nodes, known);
      return known;
    },
  };

  function sumOver(nodes: readonly TreeNode[]): Total {
    const [first] = nodes;
    if (first === undefined) return NOTHING;
    // totals of several calls can share a completion, so they are not added up
    return nodes.length === 1 ? total(first) : sumOfUsages(inOrder(nodes).map((node) => of(ownUsage, node)));
  }
}

function of(usage: UsageByCall, { call }: TreeNode): UsageByLlm {
  return (Object.hasOwn(usage, call.id) ? usage[call.id] : undefined) ?? {};
}
