import type { Engine } from "../clickhouse/engine.ts";
import { param, sql } from "../query/sql.ts";
import { pairKey } from "../shared/pair-key.ts";
import type { Project } from "../shared/project.ts";
import { chunksOf } from "./trace-lookup.ts";

/** An hour under which a trace has calls, or will have some. */
export interface TraceHour {
  readonly project_id: Project;
  readonly trace_id: string;
  readonly hour: number;
}

const TRACES_PER_QUERY = 2000;

/**
 * Notes the hours under which traces will have calls, before the calls are written. Returns all hours of each trace, by
 * `pairKey`. `trace_hours` maps a trace to its hours; `spanning_traces` maps an hour to those of its traces that have
 * several hours. It notes first and then looks: if two writers begin a trace in two hours at once, the second one sees
 * both hours.
 */
export async function noteTraces(
  engine: Engine,
  places: readonly TraceHour[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const rows = new Map<string, TraceHour>();
  const traces = new Map<string, TraceHour>();
  for (const { project_id, trace_id, hour } of places) {
    const trace = pairKey(project_id, trace_id);
    rows.set(`${hour} ${trace}`, { project_id, trace_id, hour });
    traces.set(trace, { project_id, trace_id, hour });
  }
  await engine.insert("trace_hours", [...rows.values()], { name: "trace_hours_add" });
  const hours = await readHours(engine, [...traces.values()]);
  const spanning = [...traces].flatMap(([trace, { project_id, trace_id }]) => {
    const all = hours.get(trace) ?? [];
    return all.length > 1 ? all.map((hour) => ({ project_id, hour, trace_id })) : [];
  });
  await engine.insert("spanning_traces", spanning, { name: "spanning_traces_add" });
  return hours;
}

async function readHours(
  engine: Engine,
  traces: readonly TraceHour[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const found = new Map<string, readonly number[]>();
  for (const chunk of chunksOf(traces, TRACES_PER_QUERY)) {
    const projects = [...new Set(chunk.map((trace) => trace.project_id))];
    const ids = chunk.map((trace) => trace.trace_id);
    const rows = await engine.rows<{ project_id: Project; trace_id: string; hours: readonly number[] }>(
      sql`SELECT project_id, trace_id, groupUniqArray(hour) AS hours FROM trace_hours
          WHERE project_id IN ${param("Array(String)", projects)} AND trace_id IN ${param("Array(String)", ids)}
          GROUP BY project_id, trace_id`,
      { name: "trace_hours_find", limits: "ingest", mustBeCurrent: true },
    );
    for (const row of rows) found.set(pairKey(row.project_id, row.trace_id), row.hours);
  }
  return found;
}
