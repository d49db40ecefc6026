import type { Engine } from "../../store/engine.ts";
import { TableCache, type TableState } from "../../store/table-cache.ts";
import { param, sql } from "../../query/sql.ts";
import { pairKey } from "../../shared/pair-key.ts";
import type { Project } from "../../shared/project.ts";
import { chunksOf } from "../../shared/chunks-of.ts";

/** An hour under which a trace has calls, or will have some. */
export interface TraceHour {
  readonly project_id: Project;
  readonly trace_id: string;
  readonly hour: number;
}

/** All hours of each trace, by `pairKey`. */
type HoursOfTraces = ReadonlyMap<string, readonly number[]>;

export type IndexTraceHours = (places: readonly TraceHour[]) => Promise<HoursOfTraces>;

interface Trace {
  readonly project_id: Project;
  readonly trace_id: string;
  /** Under which it will have calls. */
  readonly hours: Set<number>;
}

/** It is not remembered that it was noted under all of its hours. */
interface OpenTrace {
  readonly trace: Trace;
  readonly missing: readonly number[];
}

const TRACES_PER_QUERY = 2000;
const MAX_REMEMBERED = 50_000;

/**
 * Notes the hours under which traces will have calls, before the calls are written. Returns all hours of each trace.
 * `trace_hours` maps a trace to its hours; `multi_hour_traces` maps an hour to those of its traces that have several hours.
 * It notes first and then looks: if two writers begin a trace in two hours at once, the second one sees both hours. A
 * single process that writes may look while it notes, and remembers what it has noted and seen.
 */
export function createTraceHourIndex(engine: Engine): IndexTraceHours {
  const memory = new TableCache<readonly number[]>(engine, "trace_hours", MAX_REMEMBERED);

  const noteAndLook = async (began: TableState, open: readonly OpenTrace[]): Promise<HoursOfTraces> => {
    const rows = open.flatMap(({ trace, missing }) => missing.map((hour) => keyOf(trace, hour)));
    const indexed = engine.insert("trace_hours", rows, { name: "trace_hours_add" });
    const looked =
      began === undefined ? indexed.then(() => readHours(engine, open)) : readHours(engine, open);
    // one that fails leaves nothing behind that is still being written
    await Promise.allSettled([indexed, looked]);
    const [hours] = await Promise.all([looked, indexed]);
    return began === undefined || memory.isUnchanged(began, OWN_INSERTS) ? hours : readHours(engine, open);
  };

  return async (places) => {
    const traces = tracesOf(places);
    const began = memory.begin();
    const hoursOf = new Map<string, readonly number[]>();
    const open = new Map<string, OpenTrace>();
    for (const [key, trace] of traces) {
      const known = memory.get(key) ?? [];
      const missing = [...trace.hours].filter((hour) => !known.includes(hour));
      if (missing.length === 0) hoursOf.set(key, known);
      else open.set(key, { trace, missing });
    }
    if (open.size === 0) return hoursOf;
    const found = await noteAndLook(began, [...open.values()]);
    const multiHour: TraceHour[] = [];
    for (const [key, { trace }] of open) {
      const hours = [...new Set([...(found.get(key) ?? []), ...trace.hours])];
      hoursOf.set(key, hours);
      if (hours.length > 1) multiHour.push(...hours.map((hour) => keyOf(trace, hour)));
    }
    await engine.insert("multi_hour_traces", multiHour, { name: "multi_hour_traces_add" });
    memory.put(
      began,
      OWN_INSERTS,
      [...open.keys()].map((key) => [key, hoursOf.get(key)!]),
    );
    return hoursOf;
  };
}

const OWN_INSERTS = 1;

function tracesOf(places: readonly TraceHour[]): ReadonlyMap<string, Trace> {
  const traces = new Map<string, Trace>();
  for (const { project_id, trace_id, hour } of places) {
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

async function readHours(engine: Engine, open: readonly OpenTrace[]): Promise<HoursOfTraces> {
  const found = new Map<string, readonly number[]>();
  for (const chunk of chunksOf(open, TRACES_PER_QUERY)) {
    const projects = [...new Set(chunk.map(({ trace }) => trace.project_id))];
    const ids = chunk.map(({ trace }) => trace.trace_id);
    const rows = await engine.rows<{ project_id: Project; trace_id: string; hours: readonly number[] }>(
      sql`SELECT project_id, trace_id, groupUniqArray(hour) AS hours FROM trace_hours
          WHERE project_id IN ${param("Array(String)", projects)} AND trace_id IN ${param("Array(String)", ids)}
          GROUP BY project_id, trace_id`,
      { name: "trace_hours_find", limits: "ingest", requireCurrent: true },
    );
    for (const row of rows) found.set(pairKey(row.project_id, row.trace_id), row.hours);
  }
  return found;
}
