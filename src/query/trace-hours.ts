import type { Project } from "../shared/project.ts";
import { ofProject } from "./hour-buckets.ts";
import { param, sql, type Sql } from "./sql.ts";

/** Hour bucket with calls of a trace. */
export interface TraceHourKey {
  readonly hour: number;
  readonly traceId: string;
}

/** Ids, or a subquery for them. */
export type Traces = readonly string[] | Sql;

/** Up to this number, traces are listed in the statement, so that shards without them are not read. */
const MAX_NAMED_TRACES = 100;

/** SQL predicate of all calls of some traces. */
export function inTraces(project: Project, traces: Traces): Sql {
  if (!("chunks" in traces) && traces.length === 1) return inTrace(project, traces[0]!);
  const ids = "chunks" in traces ? traces : param("Array(String)", traces);
  return sql`${named(traces)}(hour, trace_id) IN (SELECT hour, trace_id FROM trace_hours
    WHERE ${ofProject(project)} AND trace_id IN ${ids})`;
}

/** Comparing two columns with constants costs a third less than looking up pairs. */
function inTrace(project: Project, traceId: string): Sql {
  const ofTrace = sql`trace_id = ${param("String", traceId)}`;
  return sql`${ofTrace} AND hour IN (SELECT hour FROM trace_hours WHERE ${ofProject(project)} AND ${ofTrace})`;
}

function named(traces: Traces): Sql {
  if ("chunks" in traces || traces.length > MAX_NAMED_TRACES) return sql``;
  return sql`trace_id IN ${param("Array(String)", traces)} AND `;
}

/**
 * SQL predicate of all calls of the traces with calls in the hours of `inHours`. Only multi-hour traces are looked up, so the
 * cost depends on the hours, not on the project.
 */
export function inTracesOfHours(project: Project, inHours: Sql): Sql {
  const multiHour = sql`(SELECT trace_id FROM multi_hour_traces WHERE ${ofProject(project)} AND ${inHours})`;
  return sql`(${inHours} OR ${inTraces(project, multiHour)})`;
}

/**
 * SQL predicate of all calls of traces with known hours. `places`: each trace with each of its hours. If all traces have the
 * same hours, two lists replace the pairs and cost a tenth less.
 */
export function inTraceHours(places: readonly TraceHourKey[]): Sql {
  const pairs = [...new Map(places.map((place) => [`${place.hour} ${place.traceId}`, place])).values()];
  const hours = [...new Set(pairs.map(({ hour }) => hour))];
  const traceIds = [...new Set(pairs.map(({ traceId }) => traceId))];
  if (hours.length * traceIds.length === pairs.length)
    return sql`hour IN ${param("Array(Int64)", hours)} AND trace_id IN ${param("Array(String)", traceIds)}`;
  const hoursOfPairs = param(
    "Array(Int64)",
    pairs.map(({ hour }) => hour),
  );
  const tracesOfPairs = param(
    "Array(String)",
    pairs.map(({ traceId }) => traceId),
  );
  return sql`${named(traceIds)}(hour, trace_id) IN (SELECT place.1, place.2 FROM
    (SELECT arrayJoin(arrayZip(${hoursOfPairs}, ${tracesOfPairs})) AS place))`;
}
