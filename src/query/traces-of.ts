import type { Project } from "../shared/project.ts";
import type { CompiledQuery } from "./compile.ts";
import { filterConditions } from "./filter.ts";
import { join, param, sql, type Sql } from "./sql.ts";
import type { CallsFilter } from "./wire-schema.ts";

/** A call that has started and was not deleted. */
export const LIVE = sql`deleted_at IS NULL AND started_at IS NOT NULL`;

/** More traces than this stand everywhere in the table, and looking each call's trace up costs a quarter. */
const MAX_TRACES = 1000;

export interface TraceSelection {
  readonly project: Project;
  readonly filter?: CallsFilter | null | undefined;
  readonly query?: CompiledQuery | undefined;
}

/**
 * A condition on `trace_id` alone that holds for every selected call. Calls are sorted by it, so it bounds what is
 * read at all. It comes from the traces or calls that the filter names; or else, where payloads are asked about, from
 * the traces in which the conditions on small columns hold. It may stand in a PREWHERE: all parts of a call have the
 * same trace. Source: bench/query.bench.ts.
 */
export function tracesOf({ project, filter, query }: TraceSelection): Sql {
  const { trace_ids: traceIds, call_ids: callIds } = filter ?? {};
  if (traceIds != null && traceIds.length > 0) return sql`trace_id IN ${param("Array(String)", traceIds)}`;
  if (callIds != null && callIds.length > 0) {
    return sql`trace_id IN (SELECT trace_id FROM call_traces
      WHERE project_id = ${param("String", project)} AND id IN ${param("Array(String)", callIds)})`;
  }
  const narrow = narrowConditions(filter, query);
  return query?.payload === undefined || narrow.length === 0 ? sql`1` : tracesWhere(project, narrow);
}

/** The conditions that read small columns only. */
export function narrowConditions(
  filter: CallsFilter | null | undefined,
  query: CompiledQuery | undefined,
): readonly Sql[] {
  const ofQuery = query?.narrow === undefined ? [] : [query.narrow];
  return [...filterConditions(filter), ...ofQuery];
}

/** The same subquery, written twice, is evaluated once. */
function tracesWhere(project: Project, conditions: readonly Sql[]): Sql {
  const max = param("UInt32", MAX_TRACES);
  const traces = sql`(SELECT groupUniqArray(${param("UInt32", MAX_TRACES + 1)})(trace_id) FROM calls FINAL
    WHERE project_id = ${param("String", project)} AND ${LIVE} AND ${join(conditions, " AND ")})`;
  return sql`(length(${traces}) > ${max} OR trace_id IN (SELECT arrayJoin(${traces})))`;
}
