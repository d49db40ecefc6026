import type { Engine } from "../../store/engine.ts";
import { pairKey } from "../../shared/pair-key.ts";
import { keyText, readCallKeys, type StorageKeyLookup } from "./key-lookup.ts";
import { keyOf, type RoutedEvent } from "./resolve-keys.ts";
import type { IndexTraceHours } from "./trace-hours.ts";

interface HourDeps {
  readonly engine: Engine;
  readonly lookup: StorageKeyLookup;
  readonly indexTraceHours: IndexTraceHours;
}

/** Start event with a resolved storage key. */
type Start = RoutedEvent & { readonly traceId: string; readonly hour: number };

/**
 * Assigns each start the hour of its call's first known start, so that all events of a call have one storage key, and copies
 * it to the other events of the batch. Indexes the traces' hours. Reads `call_keys` only for traces with several hours: a
 * lookup per call would cost more than storing it.
 */
export async function assignHourBuckets(
  { engine, lookup, indexTraceHours }: HourDeps,
  items: readonly RoutedEvent[],
): Promise<void> {
  const first = firstStarts(items);
  const starts = [...first.values()];
  const cached = await lookup.recall(starts.map(keyOf));
  const hours = new Map<Start, number>();
  const unknown: Start[] = [];
  for (const start of starts) {
    const known = cached.get(start.call);
    const isKnown = known?.traceId === start.traceId;
    hours.set(start, isKnown ? known.hour : start.hour);
    if (!isKnown) unknown.push(start);
  }
  const indexed = await indexTraceHours(
    [...hours].map(([{ project, traceId }, hour]) => ({ project_id: project, trace_id: traceId, hour })),
  );
  const isElsewhere = ({ project, traceId, hour }: Start): boolean =>
    indexed.get(pairKey(project, traceId))?.some((other) => other !== hour) ?? false;
  const elsewhere = unknown.filter(isElsewhere);
  for (const { project_id: project, id, trace_id, hour } of await readCallKeys(
    engine,
    elsewhere.map(keyOf),
  )) {
    const start = first.get(pairKey(trace_id, keyText({ project, id })));
    if (start !== undefined) hours.set(start, hour);
  }
  for (const item of items) {
    const start = item.traceId === undefined ? undefined : first.get(pairKey(item.traceId, item.call));
    if (start !== undefined) item.hour = hours.get(start)!;
  }
}

/** Finds the first start of each call. An id that starts in two traces is two calls. */
function firstStarts(items: readonly RoutedEvent[]): ReadonlyMap<string, Start> {
  const first = new Map<string, Start>();
  for (const item of items) {
    if (!isRouted(item)) continue;
    const key = pairKey(item.traceId, item.call);
    if (!first.has(key)) first.set(key, item);
  }
  return first;
}

function isRouted(item: RoutedEvent): item is Start {
  return item.event.isStart && item.traceId !== undefined && item.hour !== undefined;
}
