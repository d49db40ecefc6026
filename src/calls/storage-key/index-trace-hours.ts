import type { Engine } from "../../store/engine.ts";
import { TableCache, type TableState } from "../../store/table-cache.ts";
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

export type IndexTraceHours = (entries: readonly TraceHour[]) => Promise<HoursOfTraces>;

interface Trace {
  readonly project_id: Project;
  readonly trace_id: string;
  /** Hours to index. */
  readonly hours: Set<number>;
}

/** Trace with hours missing from the cache. */
interface UncachedTrace {
  readonly trace: Trace;
  readonly missing: readonly number[];
}

const TRACES_PER_QUERY = 2000;
const MAX_CACHED = 50_000;

/**
 * Creates the index of traces' hours, written before the calls. Returns all hours of each trace. `trace_hours` maps a trace to
 * its hours; `multi_hour_traces` maps an hour to its traces with several hours. Writes before it reads: if two writers begin a
 * trace in two hours at once, the second one sees both. A single writer reads concurrently and caches the result.
 */
export function createTraceHourIndex(engine: Engine): IndexTraceHours {
  const cache = new TableCache<readonly number[]>(engine, "trace_hours", MAX_CACHED);

  const indexAndRead = async (
    began: TableState,
    uncached: readonly UncachedTrace[],
  ): Promise<HoursOfTraces> => {
    const rows = uncached.flatMap(({ trace, missing }) => missing.map((hour) => keyOf(trace, hour)));
    const indexed = engine.insert("trace_hours", rows, { name: "trace_hours_add" });
    const read =
      began === undefined ? indexed.then(() => readHours(engine, uncached)) : readHours(engine, uncached);
    // awaits both, so that a failure leaves no write running
    await Promise.allSettled([indexed, read]);
    const [hours] = await Promise.all([read, indexed]);
    return began === undefined || cache.isUnchanged(began, OWN_INSERTS) ? hours : readHours(engine, uncached);
  };

  return async (entries) => {
    const traces = tracesOf(entries);
    const began = cache.begin();
    const hoursOf = new Map<string, readonly number[]>();
    const uncached = new Map<string, UncachedTrace>();
    for (const [key, trace] of traces) {
      const known = cache.get(key) ?? [];
      const missing = [...trace.hours].filter((hour) => !known.includes(hour));
      if (missing.length === 0) hoursOf.set(key, known);
      else uncached.set(key, { trace, missing });
    }
    if (uncached.size === 0) return hoursOf;
    const found = await indexAndRead(began, [...uncached.values()]);
    const multiHour: TraceHour[] = [];
    for (const [key, { trace }] of uncached) {
      const hours = [...new Set([...(found.get(key) ?? []), ...trace.hours])];
      hoursOf.set(key, hours);
      if (hours.length > 1) multiHour.push(...hours.map((hour) => keyOf(trace, hour)));
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

const OWN_INSERTS = 1;

function tracesOf(entries: readonly TraceHour[]): ReadonlyMap<string, Trace> {
  const traces = new Map<string, Trace>();
  for (const { project_id, trace_id, hour } of entries) {
    const key = pairKey(project_id, trace_id);
    const trace = traces.get(key);
    if (trace === undefined) traces.set(key, { project_id, trace_id, hours: new Set([hour]) });
    else trace.hours.add(hour);
  }
  return traces;
}

function keyOf({ project_id, trace_id }: Trace, hour: number): TraceHour {
  return { project_id, trace_id, hour };
}

async function readHours(engine: Engine, uncached: readonly UncachedTrace[]): Promise<HoursOfTraces> {
  const found = new Map<string, readonly number[]>();
  for (const chunk of chunksOf(uncached, TRACES_PER_QUERY)) {
    const projects = [...new Set(chunk.map(({ trace }) => trace.project_id))];
    const ids = chunk.map(({ trace }) => trace.trace_id);
    const rows = await engine.rows<{ project_id: Project; trace_id: string; hours: readonly number[] }>(
      sql`SELECT project_id, trace_id, groupUniqArray(hour) AS hours FROM trace_hours
          WHERE project_id IN ${param("Array(String)", projects)} AND trace_id IN ${param("Array(String)", ids)}
          GROUP BY project_id, trace_id`,
      { name: "trace_hours_find", limits: "ingest" },
    );
    for (const row of rows) found.set(pairKey(row.project_id, row.trace_id), row.hours);
  }
  return found;
}
