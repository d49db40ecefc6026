import { childrenOf, type CallTree, type Groups } from "./call-tree.ts";
import { NOT_FOUND } from "./text-column.ts";

/** From this number on, siblings of one name are shown as one line. */
const LIKE_SIBLINGS = 4;

type Calls = Omit<CallTree, "groups">;

export function membersOf({ members, ends }: Groups, group: number): Uint32Array {
  return members.subarray(group === 0 ? 0 : ends[group - 1], ends[group]);
}

export function groupsOf(tree: Calls): Groups {
  const groups = [...groupsBelow(tree, NOT_FOUND)];
  for (let parent = 0; parent < tree.parents.length; parent++)
    for (const group of groupsBelow(tree, parent)) groups.push(group);
  const ofCalls = new Int32Array(tree.parents.length).fill(NOT_FOUND);
  for (const [group, members] of groups.entries()) for (const position of members) ofCalls[position] = group;
  let end = 0;
  return {
    ofCalls,
    members: Uint32Array.from(groups.flat()),
    ends: Uint32Array.from(groups, (members) => (end += members.length)),
    failed: Uint32Array.from(groups, (members) =>
      members.reduce((sum, position) => sum + tree.errors[position]!, 0),
    ),
    endMs: Float64Array.from(groups, (members) =>
      members.reduce((end, at) => Math.max(end, tree.startMs[at]!, tree.endMs[at]!), -Infinity),
    ),
  };
}

function groupsBelow(tree: Calls, parent: number): readonly (readonly number[])[] {
  if (parent !== NOT_FOUND && tree.calls[parent]! <= LIKE_SIBLINGS) return [];
  const siblings = [...childrenOf(tree, parent)];
  if (siblings.length < LIKE_SIBLINGS) return [];
  const byName = Map.groupBy(siblings, (position) => tree.names.of[position]!);
  return [...byName.values()].filter(({ length }) => length >= LIKE_SIBLINGS);
}
