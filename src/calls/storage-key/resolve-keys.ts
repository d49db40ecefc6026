import { createHash } from "node:crypto";
import type { ProjectEvent } from "../events/call-event.ts";
import { keyText, type CallKey, type StorageKeyLookup } from "./key-lookup.ts";

/** Call event with its storage key, as far as resolved. */
export interface RoutedEvent extends ProjectEvent {
  /** Deletion mark of its project before the reads from which the event was made, if any. */
  readonly readAt: string | undefined;
  /** `keyText` of its call. */
  readonly call: string;
  /** `undefined` while its call is unknown. */
  traceId: string | undefined;
  /** Hour bucket; `undefined` while its call is unknown. */
  hour: number | undefined;
}

export function keyOf({ project, event }: ProjectEvent): CallKey {
  return { project, id: event.id };
}

/**
 * Resolves the trace of each event: as named, else of its call in this batch, else of its call in the store. A start without
 * a trace joins its parent's, else gets one derived from its id, so a retry gets the same trace. The trace stays `undefined`
 * if the call is unknown.
 */
export async function resolveStorageKeys(
  items: readonly RoutedEvent[],
  lookup: StorageKeyLookup,
): Promise<void> {
  const traceOf = new Map<string, string>();
  const open = new Map<string, RoutedEvent>();
  const unresolved: CallKey[] = [];
  for (const item of items) {
    item.traceId = item.event.traceId;
    item.hour = item.event.hour;
    if (!item.event.isStart) continue;
    if (item.traceId === undefined) open.set(item.call, item);
    else traceOf.set(item.call, item.traceId);
  }
  for (const item of items) {
    if (item.traceId !== undefined) continue;
    if (!traceOf.has(item.call)) unresolved.push(keyOf(item));
    const parent = item.event.isStart ? parentOf(item) : undefined;
    if (parent !== undefined && !traceOf.has(keyText(parent))) unresolved.push(parent);
  }
  const known = await lookup.find(unresolved);
  for (const [key, { traceId }] of known) if (!traceOf.has(key)) traceOf.set(key, traceId);
  for (const item of open.values()) deriveTrace(item, open, traceOf);
  for (const item of items) {
    item.traceId ??= traceOf.get(item.call);
    const key = known.get(item.call);
    if (key?.traceId === item.traceId) item.hour = key?.hour;
  }
}

/** Walks up to the first ancestor with a known trace and assigns that trace to all calls on the path. */
function deriveTrace(
  item: RoutedEvent,
  open: ReadonlyMap<string, RoutedEvent>,
  traceOf: Map<string, string>,
): void {
  const path = new Set<string>();
  let key = keyOf(item);
  while (!traceOf.has(keyText(key)) && !path.has(keyText(key))) {
    path.add(keyText(key));
    const next = open.get(keyText(key));
    const parent = next === undefined ? undefined : parentOf(next);
    if (parent === undefined || !(open.has(keyText(parent)) || traceOf.has(keyText(parent)))) break;
    key = parent;
  }
  const traceId = traceOf.get(keyText(key)) ?? derivedTraceId(key);
  for (const text of path) traceOf.set(text, traceId);
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
