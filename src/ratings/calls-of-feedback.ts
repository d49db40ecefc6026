import { IS_VISIBLE } from "../query/fields/columns.ts";
import { ofProject } from "../query/hour-buckets.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";

/** Prints the id of the project's call that a feedback is about; '' if it is about something else. */
export function callIdOf(project: Project): Sql {
  const prefix = `weave:///${project}/call/`;
  const idAt = param("UInt32", Buffer.byteLength(prefix) + 1);
  return sql`if(startsWith(weave_ref, ${param("String", prefix)}), substring(weave_ref, ${idAt}), '')`;
}

/**
 * Prints the FROM clause for the visible calls with these ids. `ids`: SQL subquery in parentheses. Calls of several traces can
 * have one id: feedback is about the first by `started_at`, then `trace_id`.
 */
export function fromCallsWithIds(project: Project, ids: Sql): Sql {
  return sql`FROM calls FINAL
    PREWHERE ${ofProject(project)} AND id IN ${ids} AND (hour, trace_id) IN
      (SELECT hour, trace_id FROM call_keys WHERE ${ofProject(project)} AND id IN ${ids})
    WHERE ${IS_VISIBLE}`;
}
