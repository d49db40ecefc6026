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
  const total = once((node: TreeNode) => totalOf(of(totalUsage, node)));
  const own = once((node: TreeNode) => totalOf(of(ownUsage, node)));
  const sum = once((nodes: readonly TreeNode[]) => {
    const [first] = nodes;
    if (first === undefined) return NOTHING;
    // totals of several calls can share a completion, so they are not added up
    return nodes.length === 1 ? total(first) : sumOfUsages(inOrder(nodes).map((node) => of(ownUsage, node)));
  });
  return { total, own, sum };
}

function once<Key extends object>(compute: (key: Key) => Total): (key: Key) => Total {
  const known = new WeakMap<Key, Total>();
  return (key) => {
    const value = known.get(key) ?? compute(key);
    known.set(key, value);
    return value;
  };
}

function of(usage: UsageByCall, { call }: TreeNode): UsageByLlm {
  return (Object.hasOwn(usage, call.id) ? usage[call.id] : undefined) ?? {};
}
