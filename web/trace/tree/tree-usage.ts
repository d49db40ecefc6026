import { sumOf, type Total } from "../../format/usage.ts";
import { childrenOf, type CallTree } from "./call-tree.ts";
import { membersOf } from "./groups.ts";
import { NOT_FOUND } from "./text-column.ts";
import { entriesOf, type UsageColumns } from "./usage-columns.ts";

/** Usage of calls: with descendants, and own. */
export interface TreeUsage {
  total(position: number): Total;
  /** Own usage that the call adds to the trace. The sum over all calls is the trace's usage. */
  own(position: number): Total;
  /** LLMs that the call itself used. */
  llms(position: number): readonly string[];
  /** True if the call itself used an LLM. */
  uses(position: number, llm: string): boolean;
  /** A group of like siblings with everything below them, each completion once. */
  group(group: number): Total;
  /** The whole trace, each completion once. */
  readonly all: Total;
}

/** Sums are made when they are first needed. */
export function treeUsageOf(tree: CallTree, totals: UsageColumns, owns: UsageColumns): TreeUsage {
  const groups = new Map<number, Total>();
  const total = (position: number): Total => sumOf(entriesOf(totals, position, position + 1));
  // totals of several calls can share a completion, so they are not added up
  const sum = (positions: Iterable<number>): Total =>
    sumOf(
      Iterator.from(positions).flatMap((position) =>
        entriesOf(owns, position, position + tree.calls[position]!),
      ),
    );
  const roots = [...childrenOf(tree, NOT_FOUND)];
  return {
    total,
    own: (position) => sumOf(entriesOf(owns, position, position + 1)),
    llms: (position) => Array.from(entriesOf(owns, position, position + 1), ({ llm }) => llm),
    uses: (position, llm) => entriesOf(owns, position, position + 1).some((entry) => entry.llm === llm),
    group(group) {
      const known = groups.get(group) ?? sum(membersOf(tree.groups, group));
      groups.set(group, known);
      return known;
    },
    all: roots.length === 1 ? total(roots[0]!) : sum(roots),
  };
}
