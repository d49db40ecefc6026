import { IS_ROOT, IS_VISIBLE } from "./fields/columns.ts";
import { ofProject } from "./hour-buckets.ts";
import { inHoursOf, tracesOfRange, type KeyRange } from "./key-range.ts";
import { inTracesOfHours, inTraces } from "./trace-hours.ts";
import type { Project } from "../shared/project.ts";
import { sql, type Sql } from "./sql.ts";

/**
 * Selects the traces without a root among those with calls in a range: all their calls name a parent, one of which was never
 * sent. Reads small columns of all calls of these traces.
 */
export function tracesWithoutRoot(project: Project, range: KeyRange): Sql {
  return sql`(SELECT trace_id FROM calls FINAL PREWHERE ${ofProject(project)} AND ${wholeTraces(project, range)}
    WHERE ${IS_VISIBLE} GROUP BY trace_id HAVING countIf(${IS_ROOT}) = 0)`;
}

/** Calls of traces without a root whose parent is not stored. */
export function isTopmost(project: Project, range: KeyRange): Sql {
  return sql`(trace_id, ifNull(parent_id, '')) NOT IN (SELECT trace_id, id FROM calls FINAL
    PREWHERE ${ofProject(project)} AND ${wholeTraces(project, range)} AND trace_id IN ${tracesWithoutRoot(project, range)}
    WHERE ${IS_VISIBLE})`;
}

function wholeTraces(project: Project, range: KeyRange): Sql {
  const traces = tracesOfRange(project, range);
  if (traces !== undefined) return inTraces(project, traces);
  const inHours = inHoursOf(project, range);
  return inHours === undefined ? sql`1` : inTracesOfHours(project, inHours);
}
