import type { Engine } from "../../store/engine.ts";
import { param, sql } from "../../query/sql.ts";
import { pairKey } from "../../shared/pair-key.ts";
import type { Project } from "../../shared/project.ts";
import type { IndexTraceHours } from "./index-trace-hours.ts";
import { firstStarts, keyOf, type RoutedEvent, type Start } from "./resolve-keys.ts";
import { keyText, type StorageKeyLookup } from "./key-lookup.ts";
import { chunksOf } from "../../shared/chunks-of.ts";

const KEYS_PER_QUERY = 2000;

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
  for (const [start, hour] of await storedHours(engine, unknown.filter(isElsewhere))) hours.set(start, hour);
  for (const item of items) {
    const start = first.get(item.call)?.find(({ traceId }) => traceId === item.traceId);
    if (start !== undefined) item.hour = hours.get(start)!;
  }
}

function callOf({ call, traceId }: Start): string {
  return pairKey(traceId, call);
}

/** Reads the hours of stored calls. */
async function storedHours(engine: Engine, starts: readonly Start[]): Promise<ReadonlyMap<Start, number>> {
  const requested = new Map(starts.map((start) => [callOf(start), start]));
  const found = new Map<Start, number>();
  for (const chunk of chunksOf([...requested.values()], KEYS_PER_QUERY)) {
    const rows = await engine.rows<{ project_id: Project; trace_id: string; id: string; hour: number }>(
      sql`SELECT project_id, trace_id, id, min(hour) AS hour FROM call_keys
          WHERE project_id IN ${param("Array(String)", [...new Set(chunk.map(({ project }) => project))])} AND id IN ${param(
            "Array(String)",
            chunk.map(({ event }) => event.id),
          )}
          GROUP BY project_id, trace_id, id`,
      { name: "call_hours_find", limits: "ingest" },
    );
    for (const { project_id: project, trace_id: traceId, id, hour } of rows) {
      const start = requested.get(pairKey(traceId, keyText({ project, id })));
      if (start !== undefined) found.set(start, hour);
    }
  }
  return found;
}
