import type { Engine } from "../../store/engine.ts";
import { TableCache } from "../../store/table-cache.ts";
import { param, sql } from "../../query/sql.ts";
import { pairKey } from "../../shared/pair-key.ts";
import type { Project } from "../../shared/project.ts";
import { chunksOf } from "../../shared/chunks-of.ts";

/** Hour bucket that contains, or will contain, calls of a trace. */
export interface TraceHour {
  readonly project_id: Project;
  readonly trace_id: string;
  readonly hour: number;
}

/** Hours of each trace, by `pairKey`. */
type HoursOfTraces = ReadonlyMap<string, readonly number[]>;

/** Indexes hours of traces; returns all hours of these traces. */
export type IndexTraceHours = (entries: readonly TraceHour[]) => Promise<HoursOfTraces>;

const TRACES_PER_QUERY = 2000;
const MAX_CACHED = 50_000;
const OWN_INSERTS = 1;

/**
 * Creates the index of traces' hours, written before the calls. `trace_hours` maps a trace to its hours; `multi_hour_traces`
 * maps an hour to its traces with several hours. Writes before it reads: if two writers begin a trace in two hours at once, the
 * second one sees both. A single writer reads concurrently and caches the result.
 */
export function createTraceHourIndex(engine: Engine): IndexTraceHours {
  const cache = new TableCache<readonly number[]>(engine, "trace_hours", MAX_CACHED);
  return async (entries) => {
    const began = cache.begin();
    const hoursOf = new Map<string, readonly number[]>();
    const uncached = new Map<string, readonly TraceHour[]>();
    for (const [key, ofTrace] of Map.groupBy(entries, (one) => pairKey(one.project_id, one.trace_id))) {
      const known = cache.get(key) ?? [];
      const distinct = new Map(ofTrace.map((one) => [one.hour, one]));
      const missing = [...distinct.values()].filter(({ hour }) => !known.includes(hour));
      if (missing.length === 0) hoursOf.set(key, known);
      else uncached.set(key, missing);
    }
    if (uncached.size === 0) return hoursOf;
    const indexed = engine.insert("trace_hours", [...uncached.values()].flat(), { name: "trace_hours_add" });
    const traces = [...uncached.values()].map(([one]) => one!);
    if (began === undefined) await indexed;
    const [stored] = await Promise.all([readHours(engine, traces), indexed]);
    const multiHour: TraceHour[] = [];
    for (const [key, added] of uncached) {
      const hours = [...new Set([...(stored.get(key) ?? []), ...added.map(({ hour }) => hour)])];
      hoursOf.set(key, hours);
      if (hours.length > 1) multiHour.push(...hours.map((hour) => ({ ...added[0]!, hour })));
    }
    await engine.insert("multi_hour_traces", multiHour, { name: "multi_hour_traces_add" });
    cache.put(
      began,
      OWN_INSERTS,
      [...uncached.keys()].map((key) => [key, hoursOf.get(key)!]),
    );
    return hoursOf;
  };
}

async function readHours(engine: Engine, traces: readonly TraceHour[]): Promise<HoursOfTraces> {
  const found = new Map<string, readonly number[]>();
  for (const chunk of chunksOf(traces, TRACES_PER_QUERY)) {
    const projects = [...new Set(chunk.map(({ project_id }) => project_id))];
    const ids = chunk.map(({ trace_id }) => trace_id);
    const rows = await engine.rows<{ project_id: Project; trace_id: string; hours: readonly number[] }>(
      sql`SELECT project_id, trace_id, groupUniqArray(hour) AS hours FROM trace_hours
          WHERE project_id IN ${param("Array(String)", projects)} AND trace_id IN ${param("Array(String)", ids)}
          GROUP BY project_id, trace_id`,
      { name: "trace_hours_find", limits: "ingest", synced: "trace_hours" },
    );
    for (const row of rows) found.set(pairKey(row.project_id, row.trace_id), row.hours);
  }
  return found;
}
