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
  readonly noteTraces: IndexTraceHours;
}

/**
 * Gives each start the hour in the key of its call: the hour of the call's first known start, so that all parts of a
 * call have one key. It looks a call up only if its trace has calls in other hours: a look-up for each call would cost
 * more than storing it. Other parts of the batch get the hour of their call's start. It notes the traces on the way.
 */
export async function assignHourBuckets(
  { engine, traces, noteTraces }: HourDeps,
  items: readonly RoutedEvent[],
): Promise<void> {
  const first = firstStarts(items);
  const hours = new Map<Start, number>();
  const unsure: Start[] = [];
  for (const start of [...first.values()].flat()) {
    const known = traces.recall(keyOf(start));
    const isKnown = known?.traceId === start.traceId;
    hours.set(start, isKnown ? known.hour : start.hour);
    if (!isKnown) unsure.push(start);
  }
  const indexed = await noteTraces(
    [...hours].map(([{ project, traceId }, hour]) => ({ project_id: project, trace_id: traceId, hour })),
  );
  const isElsewhere = ({ project, traceId, hour }: Start): boolean =>
    indexed.get(pairKey(project, traceId))?.some((other) => other !== hour) ?? false;
  for (const [start, hour] of await storedHours(engine, unsure.filter(isElsewhere))) hours.set(start, hour);
  for (const item of items) {
    const start = first.get(item.call)?.find(({ traceId }) => traceId === item.traceId);
    if (start !== undefined) item.hour = hours.get(start)!;
  }
}

function callOf({ call, traceId }: Start): string {
  return pairKey(traceId, call);
}

/** The hours of those calls that are in the store. */
async function storedHours(engine: Engine, starts: readonly Start[]): Promise<ReadonlyMap<Start, number>> {
  const asked = new Map(starts.map((start) => [callOf(start), start]));
  const found = new Map<Start, number>();
  for (const chunk of chunksOf([...asked.values()], KEYS_PER_QUERY)) {
    const rows = await engine.rows<{ project_id: Project; trace_id: string; id: string; hour: number }>(
      sql`SELECT project_id, trace_id, id, min(hour) AS hour FROM call_keys
          WHERE project_id IN ${param("Array(String)", [...new Set(chunk.map(({ project }) => project))])} AND id IN ${param(
            "Array(String)",
            chunk.map(({ event }) => event.id),
          )}
          GROUP BY project_id, trace_id, id`,
      { name: "call_hours_find", limits: "ingest", requireCurrent: true },
    );
    for (const { project_id: project, trace_id: traceId, id, hour } of rows) {
      const start = asked.get(pairKey(traceId, keyText({ project, id })));
      if (start !== undefined) found.set(start, hour);
    }
  }
  return found;
}
