import { isStart, type CallEvent } from "../calls/events/call-event.ts";

/**
 * Orders events so that a start without trace id follows its parent's start, whose trace it joins. Events of one call keep
 * their order. Returns positions. Cost: O(n log n).
 */
export function parentsFirst(events: readonly CallEvent[]): readonly number[] {
  const parentOf = new Map<string, string>();
  for (const event of events) {
    const parent = event.columns["parent_id"];
    if (isStart(event) && event.traceId === undefined && typeof parent === "string")
      parentOf.set(event.id, parent);
  }
  const depths = new Map<string, number>();
  for (const id of parentOf.keys()) countDepth(id, parentOf, depths);
  const depthOf = (at: number): number => depths.get(events[at]!.id) ?? 0;
  return [...events.keys()].sort((one, other) => depthOf(one) - depthOf(other));
}

/** Counts the ancestors of a call and of those ancestors. A cycle ends where it was entered. */
function countDepth(id: string, parentOf: ReadonlyMap<string, string>, depths: Map<string, number>): void {
  const path: string[] = [];
  let at: string | undefined = id;
  while (at !== undefined && !depths.has(at)) {
    depths.set(at, 0);
    path.push(at);
    at = parentOf.get(at);
  }
  let depth = at === undefined ? -1 : depths.get(at)!;
  for (const descendant of path.reverse()) depths.set(descendant, ++depth);
}
