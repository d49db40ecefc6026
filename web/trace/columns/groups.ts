import { childrenOf, hasFailed, type CallTree, type Groups } from "./call-tree.ts";
import { NOWHERE } from "./text-index.ts";

/** So many siblings of one name are shown as one line. */
const LIKE_SIBLINGS = 4;

type Calls = Omit<CallTree, "groups">;

export function membersOf({ members, ends }: Groups, group: number): Uint32Array {
  return members.subarray(group === 0 ? 0 : ends[group - 1], ends[group]);
}

export function groupsOf(tree: Calls): Groups {
  const groups = [...groupsBelow(tree, NOWHERE)];
  for (let parent = 0; parent < tree.parents.length; parent++)
    for (const group of groupsBelow(tree, parent)) groups.push(group);
  const ofCalls = new Int32Array(tree.parents.length).fill(NOWHERE);
  for (const [group, members] of groups.entries()) for (const place of members) ofCalls[place] = group;
  let end = 0;
  return {
    ofCalls,
    members: Uint32Array.from(groups.flat()),
    ends: Uint32Array.from(groups, (members) => (end += members.length)),
    failed: Uint32Array.from(groups, (members) => members.filter((place) => hasFailed(tree, place)).length),
    running: Uint8Array.from(groups, (members) => Number(members.some((place) => isRunning(tree, place)))),
    fromMs: Float64Array.from(groups, (members) => least(members, (place) => tree.startMs[place]!)),
    toMs: Float64Array.from(groups, (members) => -least(members, (place) => -lastKnownMs(tree, place))),
  };
}

function groupsBelow(tree: Calls, parent: number): readonly (readonly number[])[] {
  if (parent !== NOWHERE && tree.calls[parent]! <= LIKE_SIBLINGS) return [];
  const siblings = [...childrenOf(tree, parent)];
  if (siblings.length < LIKE_SIBLINGS) return [];
  const byName = Map.groupBy(siblings, (place) => tree.names.of[place]!);
  return [...byName.values()].filter(({ length }) => length >= LIKE_SIBLINGS);
}

function isRunning({ endMs }: Calls, place: number): boolean {
  return Number.isNaN(endMs[place]!);
}

function lastKnownMs(tree: Calls, place: number): number {
  const start = tree.startMs[place]!;
  return isRunning(tree, place) ? start : Math.max(start, tree.endMs[place]!);
}

function least(members: readonly number[], of: (place: number) => number): number {
  return members.reduce((least, place) => Math.min(least, of(place)), Infinity);
}
