import { childrenOf, idAt, positionOf, type CallTree } from "./call-tree.ts";
import { knownTextAt } from "./text-column.ts";
import { NOT_FOUND } from "./text-index.ts";

/** Expanded rows: calls by default, groups not; `changed` has the keys of the exceptions. */
export interface ExpandedState {
  readonly changed: ReadonlySet<string>;
  /** Groups are open by default, too. */
  readonly groupsOpen: boolean;
}

export function groupKey(tree: CallTree, group: number): string {
  const { members, ends } = tree.groups;
  const first = members[group === 0 ? 0 : ends[group - 1]!]!;
  const parent = tree.parents[first]!;
  return `${parent === NOT_FOUND ? "" : idAt(tree, parent)}\n${knownTextAt(tree.names, first) ?? ""}`;
}

/** Expanded rows by position. */
export interface Opened {
  call(position: number): boolean;
  group(group: number): boolean;
}

export function openedBy(tree: CallTree, { changed, groupsOpen }: ExpandedState): Opened {
  const [calls, groups] = [new Set<number>(), new Set<number>()];
  for (const key of changed) {
    const group = groupOfKey(tree, key);
    if (group === NOT_FOUND) calls.add(positionOf(tree, key));
    else groups.add(group);
  }
  return {
    call: (position) => !calls.has(position),
    group: (group) => groupsOpen !== groups.has(group),
  };
}

/** `NOWHERE`: it is the key of a call, or of nothing. */
export function groupOfKey(tree: CallTree, key: string): number {
  const end = key.lastIndexOf("\n");
  if (end < 0) return NOT_FOUND;
  const [id, name] = [key.slice(0, end), key.slice(end + 1)];
  const parent = id === "" ? NOT_FOUND : positionOf(tree, id);
  if (parent === NOT_FOUND && id !== "") return NOT_FOUND;
  const alike = childrenOf(tree, parent).find((position) => knownTextAt(tree.names, position) === name);
  return alike === undefined ? NOT_FOUND : tree.groups.ofCalls[alike]!;
}

/** Rows to expand to show a call. */
export function openedFor(
  tree: CallTree,
  position: number,
  { changed, groupsOpen }: ExpandedState,
): ReadonlySet<string> {
  const opened = new Set(changed);
  for (let at = position; at !== NOT_FOUND; at = tree.parents[at]!) {
    if (at !== position) opened.delete(idAt(tree, at));
    const group = tree.groups.ofCalls[at]!;
    if (group === NOT_FOUND) continue;
    if (groupsOpen) opened.delete(groupKey(tree, group));
    else opened.add(groupKey(tree, group));
  }
  return opened;
}
