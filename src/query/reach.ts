import type { Project } from "../shared/project.ts";
import type { CompiledQuery } from "./compile.ts";
import { filterConditions } from "./filter.ts";
import { keyHours, ofProject } from "./key-hours.ts";
import { join, param, sql, type Sql } from "./sql.ts";
import { meet, type HourRange, type TimeRange } from "./bounds/time-range.ts";
import type { CallsFilter } from "./read/wire-schema.ts";

/** A call that has started and is not deleted. */
export const LIVE = sql`deleted_at IS NULL AND started_at IS NOT NULL`;

/** For this many traces, the statement names them itself: a shard that holds none of them is not read. */
const MAX_NAMED_TRACES = 100;

/** More places than this are spread over the whole table, and looking up each call's place costs a quarter more. */
const MAX_PLACES = 1000;

export interface CallsSelection {
  readonly project: Project;
  readonly filter?: CallsFilter | null | undefined;
  readonly query?: CompiledQuery | undefined;
  /** Only calls that started in these hours. */
  readonly startedIn?: HourRange | undefined;
}

/** Ids, or a subquery that finds them. */
export type Traces = readonly string[] | Sql;

/**
 * Where the selected calls can be stored in `calls`, in terms of its key (`hour`, `trace_id`, `id`). It can be used in a
 * PREWHERE, because all parts of a call have one key. Source: docs/decisions/0012-in-time.md.
 */
export interface Reach {
  /** True for every selected call. */
  readonly calls: Sql;
  /** The traces of the selected calls, if known without reading `calls`. */
  readonly traces: Traces | undefined;
  /** True for the hours (`hour`) that the selected calls can be stored under, if a window restricts them. */
  readonly window: Sql | undefined;
  /** When the selected calls started and ended. */
  readonly range: TimeRange;
  /** Whether this is less than the whole project. */
  readonly isBounded: boolean;
  /** Whether only the window and being a root select: then most traces in its hours are selected. */
  readonly isWholeWindow: boolean;
  /** The number of hours in which the selected calls started or ended; infinite if unrestricted. */
  readonly hours: number;
}

export function reachOf({ project, filter, query, startedIn }: CallsSelection): Reach {
  const range = { ended: query?.bounds.ended, started: meet(query?.bounds.started, startedIn) };
  const hourConditions = windowOf(project, range);
  const window = hourConditions.length === 0 ? undefined : join(hourConditions, " AND ");
  const hours = Math.min(lengthOf(range.started), lengthOf(range.ended));
  const all = (...conditions: readonly (Sql | undefined)[]): Sql => {
    const some = conditions.filter((condition) => condition !== undefined);
    return some.length === 0 ? sql`1` : join(some, " AND ");
  };
  const traces = nonEmpty(filter?.trace_ids) ?? query?.bounds.traceIds;
  if (traces !== undefined) {
    return {
      calls: all(inTraces(project, traces), window),
      traces,
      window,
      range,
      isBounded: true,
      isWholeWindow: false,
      hours,
    };
  }
  const callIds = nonEmpty(filter?.call_ids) ?? query?.bounds.callIds;
  if (callIds !== undefined) {
    const started = sql`FROM call_traces WHERE project_id = ${param("String", project)}
      AND id IN ${param("Array(String)", callIds)}`;
    const calls = all(sql`(hour, trace_id) IN (SELECT hour, trace_id ${started})`, window);
    const tracesOfCalls = sql`(SELECT trace_id ${started})`;
    return { calls, traces: tracesOfCalls, window, range, isBounded: true, isWholeWindow: false, hours };
  }
  const places = placesOf({ project, filter, query }, all(window));
  const isBounded = window !== undefined;
  const isWholeWindow = isBounded && !saysMoreThanWhen({ filter, query });
  return { calls: all(window, places), traces: undefined, window, range, isBounded, isWholeWindow, hours };
}

function saysMoreThanWhen({ filter, query }: Pick<CallsSelection, "filter" | "query">): boolean {
  const ofFilter = filterConditions({ ...filter, trace_roots_only: undefined });
  return ofFilter.length > 0 || query?.saysMoreThanWhen === true || query?.payload !== undefined;
}

function lengthOf(range: HourRange | undefined): number {
  return range === undefined ? Number.POSITIVE_INFINITY : range.to - range.from + 1;
}

/** All calls of some traces, in any hour. */
export function inTraces(project: Project, traces: Traces): Sql {
  const ids = "chunks" in traces ? traces : sql`${param("Array(String)", traces)}`;
  return sql`${named(traces)}(hour, trace_id) IN (SELECT hour, trace_id FROM trace_hours
    WHERE project_id = ${param("String", project)} AND trace_id IN ${ids})`;
}

function named(traces: Traces): Sql {
  if ("chunks" in traces || traces.length > MAX_NAMED_TRACES) return sql``;
  return sql`trace_id IN ${param("Array(String)", traces)} AND `;
}

/**
 * All calls of the traces that have calls under the hours of a window. Only traces with calls under several hours are looked
 * up, so the cost depends on the window, not on the project.
 */
export function aroundWindow(project: Project, window: Sql): Sql {
  const spanning = sql`(SELECT trace_id FROM spanning_traces WHERE project_id = ${param("String", project)} AND ${window})`;
  return sql`(${window} OR ${inTraces(project, spanning)})`;
}

/** An hour under which a trace has calls. */
export interface Place {
  readonly hour: number;
  readonly traceId: string;
}

/**
 * All calls of some traces with known hours: `places` contains each trace with each of its hours. If all traces have the
 * same hours, two lists say the same as pairs, and cost a tenth less to read by.
 */
export function inPlaces(places: readonly Place[]): Sql {
  const pairs = [...new Map(places.map((place) => [`${place.hour} ${place.traceId}`, place])).values()];
  const distinct = distinctOf(pairs);
  if (distinct.hours.length * distinct.traceIds.length === pairs.length) return inLists(distinct);
  const hours = pairs.map((place) => place.hour);
  const traceIds = pairs.map((place) => place.traceId);
  return sql`${named(distinct.traceIds)}(hour, trace_id) IN (SELECT place.1, place.2 FROM
    (SELECT arrayJoin(arrayZip(${param("Array(Int64)", hours)}, ${param("Array(String)", traceIds)})) AS place))`;
}

interface HoursAndTraces {
  readonly hours: readonly number[];
  readonly traceIds: readonly string[];
}

function distinctOf(places: readonly Place[]): HoursAndTraces {
  return {
    hours: [...new Set(places.map(({ hour }) => hour))],
    traceIds: [...new Set(places.map(({ traceId }) => traceId))],
  };
}

function inLists({ hours, traceIds }: HoursAndTraces): Sql {
  return sql`hour IN ${param("Array(Int64)", hours)} AND trace_id IN ${param("Array(String)", traceIds)}`;
}

/** The conditions that only read small columns. */
export function narrowConditions(
  filter: CallsFilter | null | undefined,
  query: CompiledQuery | undefined,
): readonly Sql[] {
  const ofQuery = query?.narrow === undefined ? [] : [query.narrow];
  return [...filterConditions(filter), ...ofQuery];
}

function windowOf(project: Project, { started, ended }: TimeRange): readonly Sql[] {
  const asked = [
    { kind: "started", range: started },
    { kind: "ended", range: ended },
  ] as const;
  return asked.flatMap(({ kind, range }) =>
    range === undefined ? [] : [sql`hour IN (${keyHours(ofProject(project), { kind, range })})`],
  );
}

/**
 * For payload conditions: the hours and traces in which the conditions on small columns are true, unless a window restricts
 * them as well. The engine evaluates a repeated subquery once. Source: bench/query.bench.ts.
 */
function placesOf({ project, filter, query }: CallsSelection, window: Sql): Sql | undefined {
  const narrow = narrowConditions(filter, query);
  const saysMore = filterConditions(filter).length > 0 || query?.saysMoreThanWhen === true;
  if (query?.payload === undefined || narrow.length === 0 || !saysMore) return undefined;
  const max = param("UInt32", MAX_PLACES);
  const places = sql`(SELECT groupArray(place) FROM (SELECT DISTINCT (hour, trace_id) AS place FROM calls FINAL
    PREWHERE project_id = ${param("String", project)} AND ${window}
    WHERE ${LIVE} AND ${join(narrow, " AND ")} LIMIT ${param("UInt32", MAX_PLACES + 1)}))`;
  return sql`(length(${places}) > ${max} OR (hour, trace_id) IN
    (SELECT place.1, place.2 FROM (SELECT arrayJoin(${places}) AS place)))`;
}

function nonEmpty(list: readonly string[] | null | undefined): readonly string[] | undefined {
  return list == null || list.length === 0 ? undefined : list;
}
