import type { Engine } from "../../store/engine.ts";
import { pairKey } from "../../shared/pair-key.ts";
import { keyText, readCallKeys, type StorageKeyLookup } from "./key-lookup.ts";
import { firstStarts, keyOf, type RoutedEvent, type Start } from "./resolve-keys.ts";
import type { IndexTraceHours } from "./trace-hours.ts";

interface HourDeps {
  readonly engine: Engine;
  readonly traces: StorageKeyLookup;
  readonly indexTraceHours: IndexTraceHours;
}

/**
 * Assigns each start the hour of its call's first known start, so that all events of a call have one storage key, and copies
 * it to the other events of the batch. Indexes the traces' hours. Reads `call_keys` only for traces with several hours: a
 * lookup per call would cost more than storing it.
 */
export async function assignHourBuckets(
  { engine, traces, indexTraceHours }: HourDeps,
  items: readonly RoutedEvent[],
): Promise<void> {
  const first = firstStarts(items);
  const starts = [...first.values()].flat();
  const cached = await traces.recall(starts.map(keyOf));
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
    const start = first.get(keyText({ project, id }))?.find(({ traceId }) => traceId === trace_id);
    if (start !== undefined) hours.set(start, hour);
  }
  for (const item of items) {
    const start = first.get(item.call)?.find(({ traceId }) => traceId === item.traceId);
    if (start !== undefined) item.hour = hours.get(start)!;
  }
}
