import { isStart, type CallEvent } from "../calls/events/call-event.ts";

/**
 * The positions of some parts in an order in which a start without a trace comes after its parent's, wherever it stands: it
 * joins the trace of a parent that is known. Parts of one call stay in their order. Cost: linear, but for the sort.
 */
export function parentsFirst(parts: readonly CallEvent[]): readonly number[] {
  const parentOf = new Map<string, string>();
  for (const part of parts) {
    const parent = part.columns["parent_id"];
    if (isStart(part) && part.traceId === undefined && typeof parent === "string")
      parentOf.set(part.id, parent);
  }
  const depths = new Map<string, number>();
  for (const id of parentOf.keys()) countDepth(id, parentOf, depths);
  const depthOf = (at: number): number => depths.get(parts[at]!.id) ?? 0;
  return [...parts.keys()].sort((one, other) => depthOf(one) - depthOf(other));
}

/** How many parents are above it, of it and of those. A circle ends where it was entered. */
function countDepth(id: string, parentOf: ReadonlyMap<string, string>, depths: Map<string, number>): void {
  const way: string[] = [];
  let at: string | undefined = id;
  while (at !== undefined && !depths.has(at)) {
    depths.set(at, 0);
    way.push(at);
    at = parentOf.get(at);
  }
  let depth = at === undefined ? -1 : depths.get(at)!;
  for (const below of way.reverse()) depths.set(below, ++depth);
}
