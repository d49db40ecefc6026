import type { Project } from "../shared/project.ts";
import { param, sql, type Sql } from "./sql.ts";

/** With more traces than this, looking each call's trace up costs more than it saves. */
const MAX_TRACES = 10_000;

/**
 * A condition on `trace_id` alone that holds for every call of which `narrow` holds, so that a condition on payloads
 * beside it reads the payloads of these traces only: traces are what the table is sorted by. It does not narrow
 * when there are too many of them.
 *
 * Source: bench/query.bench.ts. Exact under FINAL: all parts of a call have the same trace.
 */
export function narrowedTraces(project: Project, narrow: Sql): Sql {
  const traces = sql`(SELECT groupUniqArray(${param("UInt32", MAX_TRACES + 1)})(trace_id) FROM calls FINAL
    WHERE project_id = ${param("String", project)} AND ${LIVE} AND ${narrow})`;
  // The same subquery twice is evaluated once.
  return sql`(length(${traces}) > ${param("UInt32", MAX_TRACES)} OR trace_id IN (SELECT arrayJoin(${traces})))`;
}

/** A call that has started and was not deleted. */
export const LIVE = sql`deleted_at IS NULL AND started_at IS NOT NULL`;
