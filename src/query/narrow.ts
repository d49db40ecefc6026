import { IS_VISIBLE } from "./fields/columns.ts";
import { filterConditions } from "./filter.ts";
import { ofProject } from "./hour-buckets.ts";
import { inKeyRange, keyRangeOf, type CallsSelection } from "./key-range.ts";
import { join, param, sql, type Sql } from "./sql.ts";

/** Maximum number of storage keys to look up: more are spread over the whole table, and the lookup costs a quarter more. */
const MAX_PLACES = 1000;

/** Conditions on small columns. */
export function narrowConditions({ filter, query }: Omit<CallsSelection, "project">): readonly Sql[] {
  const ofQuery = query?.narrow === undefined ? [] : [query.narrow];
  return [...filterConditions(filter), ...ofQuery];
}

/** True if a call must meet more conditions than being a root and its start and end time. */
export function hasNonTimeConditions({ filter, query }: Omit<CallsSelection, "project">): boolean {
  const ofFilter = filterConditions({ ...filter, trace_roots_only: undefined });
  return ofFilter.length > 0 || query?.hasNonTimeConditions === true || query?.payload !== undefined;
}

/** SQL predicate of the key and small columns for the selected calls, a superset; it can be used in PREWHERE. */
export function whereSelected(selection: CallsSelection): Sql {
  const { project } = selection;
  const range = keyRangeOf(selection);
  const inRange = inKeyRange(project, range);
  const places = range.in === "project" ? placesOf(selection, inRange) : undefined;
  return places === undefined ? inRange : sql`${inRange} AND ${places}`;
}

/**
 * Restricts payload conditions to the hours and traces in which the conditions on small columns hold, unless a window
 * restricts them already. The engine evaluates a repeated subquery once. Source: bench/query.bench.ts.
 */
function placesOf(selection: CallsSelection, inRange: Sql): Sql | undefined {
  const { project, filter, query } = selection;
  const narrow = narrowConditions(selection);
  const saysMore = filterConditions(filter).length > 0 || query?.hasNonTimeConditions === true;
  if (query?.payload === undefined || narrow.length === 0 || !saysMore) return undefined;
  const max = param("UInt32", MAX_PLACES);
  const places = sql`(SELECT groupArray(place) FROM (SELECT DISTINCT (hour, trace_id) AS place FROM calls FINAL
    PREWHERE ${ofProject(project)} AND ${inRange}
    WHERE ${IS_VISIBLE} AND ${join(narrow, " AND ")} LIMIT ${param("UInt32", MAX_PLACES + 1)}))`;
  return sql`(length(${places}) > ${max} OR (hour, trace_id) IN
    (SELECT place.1, place.2 FROM (SELECT arrayJoin(${places}) AS place)))`;
}
