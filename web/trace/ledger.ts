import {
  COSTS,
  COUNTS,
  NOTHING,
  sumOf,
  totalOf,
  type LlmUsage,
  type Total,
  type UsageByLlm,
} from "../numbers/usage.ts";
import type { TreeNode } from "./tree.ts";

/** What calls used: with everything below them, as the service says it, and by themselves. */
export interface Ledger {
  total(node: TreeNode): Total;
  /** Null: calls below tell of one completion, so that their totals do not add up; the receipt has it. */
  own(node: TreeNode): Total | null;
  /** Of like siblings: the sum of their totals. */
  sum(nodes: readonly TreeNode[]): Total;
}

/** Everything is computed when it is first seen: of a hundred thousand rows few are. */
export function ledgerOf(usage: Readonly<Record<string, UsageByLlm>>): Ledger {
  const totals = new WeakMap<TreeNode, Total>();
  const owns = new WeakMap<TreeNode, Total | null>();
  const of = (node: TreeNode): UsageByLlm =>
    (Object.hasOwn(usage, node.call.id) ? usage[node.call.id] : undefined) ?? {};
  const total = (node: TreeNode): Total => {
    const known = totals.get(node) ?? totalOf(of(node));
    totals.set(node, known);
    return known;
  };
  const sums = new WeakMap<readonly TreeNode[], Total>();
  return {
    total,
    own(node) {
      const known = owns.get(node);
      if (known !== undefined) return known;
      const own = node.children.length === 0 ? of(node) : ownUsage(of(node), node.children.map(of));
      const figure = own === null ? null : totalOf(own);
      owns.set(node, figure);
      return figure;
    },
    sum(nodes) {
      const known = sums.get(nodes) ?? (nodes.length === 0 ? NOTHING : sumOf(nodes.map(total)));
      sums.set(nodes, known);
      return known;
    },
  };
}

/** A total less those directly below, by LLM. Null when less than nothing is left: the totals below share something. */
export function ownUsage(total: UsageByLlm, below: readonly UsageByLlm[]): UsageByLlm | null {
  const left = new Map(Object.entries(total).map(([llm, usage]) => [llm, { ...usage }]));
  for (const [llm, usage] of below.flatMap((one) => Object.entries(one))) {
    const rest = left.get(llm);
    if (rest === undefined) return null;
    for (const name of COUNTS) rest[name] -= usage[name];
    for (const name of COSTS) rest[name] = less(rest[name], usage[name]);
  }
  const own = [...left].filter(([, usage]) => COUNTS.some((name) => usage[name] !== 0));
  if (own.some(([, usage]) => isNegative(usage))) return null;
  return Object.fromEntries(own);
}

function isNegative(usage: LlmUsage): boolean {
  return COUNTS.some((name) => usage[name] < 0);
}

/** To the picodollar: what the service reckons in. */
function less(cost: number | null, below: number | null): number | null {
  return cost === null || below === null ? cost : Math.max(0, Math.round((cost - below) * 1e12) / 1e12);
}
