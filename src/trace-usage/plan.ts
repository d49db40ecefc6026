import { filterCondition, type CallsFilter } from "./calls-filter.ts";

import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { Selection } from "./selection.ts";

export function planSelection(
  project: Project,
  request: { filter: CallsFilter | null | undefined; limit: number },
): Selection {
  return {
    project,
    condition: filterCondition(request.filter ?? {}),
    traces: tracesOf(project, request.filter),
    onlyTrace: request.filter?.trace_ids?.length === 1 ? request.filter.trace_ids[0] : undefined,
    readsPayload: false,
    limit: request.limit,
  };
}

/** The given calls alone; none when none is given. */
export function planRoots(
  project: Project,
  request: { callIds: readonly string[]; limit: number },
): Selection {
  const { callIds, limit } = request;
  const selection = planSelection(project, { filter: { call_ids: [...callIds] }, limit });
  return callIds.length === 0 ? { ...selection, condition: sql`0`, traces: sql`0` } : selection;
}

/** The filter members that name traces narrow what is read: directly, or through the index of calls. */
function tracesOf(project: Project, filter: CallsFilter | null | undefined): Sql {
  const { trace_ids: traceIds, call_ids: callIds } = filter ?? {};
  if (traceIds != null && traceIds.length > 0) return sql`trace_id IN ${param("Array(String)", traceIds)}`;
  if (callIds == null || callIds.length === 0) return sql`1`;
  return sql`trace_id IN (SELECT trace_id FROM call_traces
    WHERE project_id = ${param("String", project)} AND id IN ${param("Array(String)", callIds)})`;
}
