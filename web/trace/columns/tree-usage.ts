import { sumOfEntries, type Total, type UsageByLlm } from "../../numbers/usage.ts";
import { childrenOf, type CallTree } from "./call-tree.ts";
import { membersOf } from "./groups.ts";
import { NOWHERE } from "./text-index.ts";
import { entriesOf, type UsageColumns } from "./usage-columns.ts";

/** What calls used, as the service says it: with everything below them, and by themselves. */
export interface TreeUsage {
  total(place: number): Total;
  /** The same by LLM. */
  usage(place: number): UsageByLlm;
  /** What the call adds to the trace. Over all calls it is what the trace used. */
  own(place: number): Total;
  /** Of like siblings with everything below them, each completion once. */
  group(group: number): Total;
  /** Of the whole trace, each completion once. */
  readonly all: Total;
}

/** What is added up is added up when it is first seen. */
export function treeUsageOf(tree: CallTree, totals: UsageColumns, owns: UsageColumns): TreeUsage {
  const groups = new Map<number, Total>();
  const total = (place: number): Total => sumOfEntries(entriesOf(totals, place, place + 1));
  // totals of several calls can share a completion, so they are not added up
  const sum = (places: Iterable<number>): Total =>
    sumOfEntries(
      Iterator.from(places).flatMap((place) => entriesOf(owns, place, place + tree.calls[place]!)),
    );
  const roots = [...childrenOf(tree, NOWHERE)];
  return {
    total,
    usage: (place) =>
      Object.fromEntries(entriesOf(totals, place, place + 1).map(({ llm, usage }) => [llm, usage])),
    own: (place) => sumOfEntries(entriesOf(owns, place, place + 1)),
    group(group) {
      const known = groups.get(group) ?? sum(membersOf(tree.groups, group));
      groups.set(group, known);
      return known;
    },
    all: roots.length === 1 ? total(roots[0]!) : sum(roots),
  };
}
