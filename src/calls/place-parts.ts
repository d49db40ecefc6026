import { createHash } from "node:crypto";
import type { Project } from "../shared/project.ts";
import { isStart, type CallPart } from "./call-part.ts";
import type { Fence } from "./project-fences.ts";
import { keyText, type CallKey, type TraceLookup } from "./trace-lookup.ts";

/** A part on its way into the store. */
export interface Placed {
  readonly project: Project;
  readonly part: CallPart;
  /** What its project was when the store was asked for what the part says. */
  readonly since: Fence | undefined;
  /** Its call, as `keyText` writes it. */
  readonly call: string;
  /** The fence of its project, as it was known when the part was placed. */
  placedUnder: string | undefined;
  /** The trace it goes to; undefined while its call is not known. */
  traceId: string | undefined;
  /** The hour in the key of its call; undefined while its call is not known. */
  hour: number | undefined;
}

export function keyOf({ project, part }: Pick<Placed, "project" | "part">): CallKey {
  return { project, id: part.id };
}

/**
 * Finds the trace of every part of a batch: its own, that of its call in this batch, or that of its call as it is known.
 * A start without one goes to the trace of its parent, else to one that is derived from its own id, which is the same
 * however often it is sent. What is left is undefined: the call is not known.
 */
export async function placeParts(items: readonly Placed[], traces: TraceLookup): Promise<void> {
  const traceOf = new Map<string, string>();
  const open = new Map<string, Placed>();
  const unsure: CallKey[] = [];
  for (const item of items) {
    item.placedUnder = traces.fenceOf(item.project);
    item.traceId = item.part.traceId;
    item.hour = item.part.hour;
    if (!isStart(item.part)) continue;
    if (item.traceId === undefined) open.set(item.call, item);
    else traceOf.set(item.call, item.traceId);
  }
  for (const item of items) {
    if (item.traceId !== undefined) continue;
    if (!traceOf.has(item.call)) unsure.push(keyOf(item));
    const parent = isStart(item.part) ? parentOf(item) : undefined;
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
}

/** Goes up to the first ancestor whose trace is known; all on the way share it. */
function deriveTrace(item: Placed, open: ReadonlyMap<string, Placed>, traceOf: Map<string, string>): void {
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

function parentOf({ project, part }: Placed): CallKey | undefined {
  const parentId = part.columns["parent_id"];
  return typeof parentId === "string" && parentId !== "" ? { project, id: parentId } : undefined;
}

function derivedTraceId({ project, id }: CallKey): string {
  return createHash("sha256")
    .update(JSON.stringify([project, id]))
    .digest("hex")
    .slice(0, 32);
}
