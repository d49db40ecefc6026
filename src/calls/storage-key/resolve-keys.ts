import { createHash } from "node:crypto";
import { isStart, type CallEvent, type ProjectEvent } from "../events/call-event.ts";
import type { ProjectGeneration } from "./project-generations.ts";
import { keyText, type CallKey, type StorageKeyLookup } from "./key-lookup.ts";

/** A part on its way into the store. */
export interface RoutedEvent extends ProjectEvent {
  event: CallEvent;
  /** The project's fence before the store was read for what the part says. */
  readonly readAtGeneration: ProjectGeneration | undefined;
  /** The `keyText` of its call. */
  readonly call: string;
  /** The project's fence when the part was placed. */
  resolvedAtGeneration: string | undefined;
  /** Undefined while its call is unknown. */
  traceId: string | undefined;
  /** The hour in the call's key; undefined while its call is unknown. */
  hour: number | undefined;
}

export function keyOf({ project, event }: ProjectEvent): CallKey {
  return { project, id: event.id };
}

/**
 * Finds the trace of every part of a batch: the one it names, the one its call has in this batch, or the one its call
 * has in the store. A start without a trace joins its parent's, else one derived from its own id: sending it again gives
 * the same trace. The trace stays undefined if the call is unknown. All parts of a call get the hour of its first start.
 */
export async function resolveStorageKeys(
  items: readonly RoutedEvent[],
  traces: StorageKeyLookup,
): Promise<void> {
  const traceOf = new Map<string, string>();
  const open = new Map<string, RoutedEvent>();
  const unsure: CallKey[] = [];
  for (const item of items) {
    item.resolvedAtGeneration = traces.generationOf(item.project);
    item.traceId = item.event.traceId;
    item.hour = item.event.hour;
    if (!isStart(item.event)) continue;
    if (item.traceId === undefined) open.set(item.call, item);
    else traceOf.set(item.call, item.traceId);
  }
  for (const item of items) {
    if (item.traceId !== undefined) continue;
    if (!traceOf.has(item.call)) unsure.push(keyOf(item));
    const parent = isStart(item.event) ? parentOf(item) : undefined;
    if (parent !== undefined && !traceOf.has(keyText(parent))) unsure.push(parent);
  }
  const known = await traces.find(unsure);
  for (const [key, { traceId }] of known) if (!traceOf.has(key)) traceOf.set(key, traceId);
  for (const item of open.values()) deriveTrace(item, open, traceOf);
  for (const item of items) {
    item.traceId ??= traceOf.get(item.call);
    const place = known.get(item.call);
    if (place?.traceId === item.traceId) item.hour = place?.hour;
  }
  const first = firstStarts(items);
  for (const item of items) {
    const start = first.get(item.call)?.find(({ traceId }) => traceId === item.traceId);
    if (start !== undefined) item.hour = start.hour;
  }
}

/** A start whose trace is known. */
export type Start = RoutedEvent & { readonly traceId: string; readonly hour: number };

/** The first start of each call, by its id. An id that starts in two traces is two calls. */
export function firstStarts(items: readonly RoutedEvent[]): ReadonlyMap<string, readonly Start[]> {
  const first = new Map<string, Start[]>();
  for (const item of items) {
    if (!isRouted(item)) continue;
    const ofId = first.get(item.call);
    if (ofId === undefined) first.set(item.call, [item]);
    else if (!ofId.some(({ traceId }) => traceId === item.traceId)) ofId.push(item);
  }
  return first;
}

function isRouted(item: RoutedEvent): item is Start {
  return isStart(item.event) && item.traceId !== undefined && item.hour !== undefined;
}

/** Where the calls of a batch go does not depend on who else is in it any more: it can be divided. */
export function pinTraceIds(items: readonly RoutedEvent[]): void {
  for (const item of items) {
    if (isStart(item.event)) item.event = { ...item.event, traceId: item.traceId };
  }
}

/** Goes up to the first ancestor with a known trace. All calls on the way get that trace. */
function deriveTrace(
  item: RoutedEvent,
  open: ReadonlyMap<string, RoutedEvent>,
  traceOf: Map<string, string>,
): void {
  const way = new Set<string>();
  let key = keyOf(item);
  while (!traceOf.has(keyText(key)) && !way.has(keyText(key))) {
    way.add(keyText(key));
    const next = open.get(keyText(key));
    const parent = next === undefined ? undefined : parentOf(next);
    if (parent === undefined || !(open.has(keyText(parent)) || traceOf.has(keyText(parent)))) break;
    key = parent;
  }
  const traceId = traceOf.get(keyText(key)) ?? derivedTraceId(key);
  for (const text of way) traceOf.set(text, traceId);
}

function parentOf({ project, event }: RoutedEvent): CallKey | undefined {
  const parentId = event.columns["parent_id"];
  return typeof parentId === "string" && parentId !== "" ? { project, id: parentId } : undefined;
}

function derivedTraceId({ project, id }: CallKey): string {
  return createHash("sha256")
    .update(JSON.stringify([project, id]))
    .digest("hex")
    .slice(0, 32);
}
