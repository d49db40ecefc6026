import { param, sql, trusted, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { MAX_SPAN_HOURS, spanKey, type HourSpan, type Reading } from "./hours.ts";

/** Set of the traces of a span that have calls under an hour. */
export interface MultiHourTraceSet extends HourSpan {
  readonly hour: number;
  /** Sum of the hashes of the trace ids, modulo 2^64. */
  readonly traceSetHash: string;
}

export interface MultiHourTraces extends MultiHourTraceSet {
  readonly traceIds: readonly string[];
}

/** Empty span assigned to all traces longer than `MAX_SPAN_HOURS`. */
const LONG: HourSpan = { first: 0, last: -1 };

export function isTooLong({ first, last }: HourSpan): boolean {
  return last < first;
}

/** Reads the trace sets, by span and hour, of multi-hour traces indexed where `hours`, a condition on `hour`, holds. */
export function readMultiHourTraceSets(
  { engine, project, signal }: Reading,
  hours: Sql,
  name: string,
): Promise<readonly MultiHourTraceSet[]> {
  return engine.rows<MultiHourTraceSet>(
    sql`SELECT first, last, hour, ${TRACE_SET_HASH} FROM ${byHours(project, hours)} WHERE ${hours} GROUP BY first, last, hour`,
    { name, signal, limits: "heavy", dependsOn: ["trace_hours", "multi_hour_traces"] },
  );
}

/** Reads the same traces with their ids, under all of their hours. */
export function readMultiHourTraces(
  { engine, project, signal }: Reading,
  hours: Sql,
  name: string,
): Promise<readonly MultiHourTraces[]> {
  return engine.rows<MultiHourTraces>(
    sql`SELECT first, last, hour, ${TRACE_SET_HASH}, groupArray(trace_id) AS traceIds
        FROM ${byHours(project, hours)} GROUP BY first, last, hour`,
    { name, signal, limits: "maintenance" },
  );
}

const TRACE_SET_HASH = sql`toString(sum(cityHash64(trace_id))) AS traceSetHash`;

function byHours(project: Project, hours: Sql): Sql {
  return sql`(SELECT first, last, trace_id, arrayJoin(all_hours) AS hour FROM (${spansOfTraces(project, hours)}))`;
}

/**
 * SQL: multi-hour traces indexed under some hours, with their spans. A multi-hour span covers at least two hours, even if
 * retention left one.
 */
function spansOfTraces(project: Project, hours: Sql): Sql {
  const unlessLong = (hour: Sql, instead: number): Sql =>
    sql`if(max(hour) - min(hour) < ${param("Int64", MAX_SPAN_HOURS)}, ${hour}, ${trusted(String(instead))})`;
  return sql`SELECT trace_id, groupUniqArray(hour) AS all_hours, ${unlessLong(sql`min(hour)`, LONG.first)} AS first,
      ${unlessLong(sql`greatest(max(hour), min(hour) + 1)`, LONG.last)} AS last
    FROM trace_hours WHERE project_id = ${param("String", project)} AND trace_id IN
      (SELECT trace_id FROM multi_hour_traces WHERE project_id = ${param("String", project)} AND ${hours})
    GROUP BY trace_id`;
}

/** SQL: `(hour, trace_id)` of the multi-hour traces of some hours, except traces of `spans`. */
export function keysOutside(project: Project, hours: Sql, spans: readonly HourSpan[]): Sql {
  const keys = param("Array(String)", spans.map(spanKey));
  return sql`(SELECT arrayJoin(all_hours), trace_id FROM (${spansOfTraces(project, hours)})
    WHERE concat(toString(first), '-', toString(last)) NOT IN ${keys})`;
}
