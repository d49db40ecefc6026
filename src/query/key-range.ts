import type { Project } from "../shared/project.ts";
import { intersect, type HourRange, type TimeRange } from "./bounds/time-range.ts";
import type { CompiledQuery } from "./compile.ts";
import { hourBucketsOf, ofProject } from "./hour-buckets.ts";
import { inTraces, type Traces } from "./trace-hours.ts";
import type { CallsFilter } from "./read/wire-schema.ts";
import { join, param, sql, type Sql } from "./sql.ts";

export interface CallsSelection {
  readonly project: Project;
  readonly filter?: CallsFilter | null | undefined;
  readonly query?: CompiledQuery | undefined;
  /** Start hours of the calls. */
  readonly startedIn?: HourRange | undefined;
}

/**
 * Range of the sorting key of `calls` that covers the selected calls: named traces, the storage keys of named calls, or the
 * project; and the hours of their starts and ends. Source: docs/decisions/0012-time-ordered-storage.md.
 */
export interface KeyRange extends TimeRange {
  readonly in: "traces" | "calls" | "project";
  /** Ids of traces or calls. */
  readonly ids: readonly string[];
}

export function keyRangeOf({ filter, query, startedIn }: Omit<CallsSelection, "project">): KeyRange {
  const times = { started: intersect(query?.bounds.started, startedIn), ended: query?.bounds.ended };
  const traceIds = nonEmpty(filter?.trace_ids) ?? query?.bounds.traceIds;
  if (traceIds !== undefined) return { in: "traces", ids: traceIds, ...times };
  const callIds = nonEmpty(filter?.call_ids) ?? query?.bounds.callIds;
  if (callIds !== undefined) return { in: "calls", ids: callIds, ...times };
  return { in: "project", ids: [], ...times };
}

/** SQL predicate for the selected calls. A PREWHERE can use it, because all events of a call have the same storage key. */
export function inKeyRange(project: Project, range: KeyRange): Sql {
  const hours = inHoursOf(project, range);
  const named = inNamed(project, range);
  const conditions = [named, hours].filter((condition) => condition !== undefined);
  return conditions.length === 0 ? sql`1` : join(conditions, " AND ");
}

function inNamed(project: Project, range: KeyRange): Sql | undefined {
  if (range.in === "traces") return inTraces(project, range.ids);
  if (range.in === "project") return undefined;
  return sql`(hour, trace_id) IN (SELECT hour, trace_id ${fromCallKeys(project, range.ids)})`;
}

/** Returns the traces of the selected calls; `undefined` if only `calls` has them. */
export function tracesOfRange(project: Project, range: KeyRange): Traces | undefined {
  if (range.in === "traces") return range.ids;
  return range.in === "calls" ? sql`(SELECT trace_id ${fromCallKeys(project, range.ids)})` : undefined;
}

/** Prints the FROM clause for the storage keys of calls. */
function fromCallKeys(project: Project, callIds: readonly string[]): Sql {
  return sql`FROM call_keys WHERE ${ofProject(project)} AND id IN ${param("Array(String)", callIds)}`;
}

/** SQL predicate: hour buckets of calls that started and ended in these ranges; `undefined` for unlimited ranges. */
export function inHoursOf(project: Project, { started, ended }: TimeRange): Sql | undefined {
  const requested = [
    { kind: "started", range: started },
    { kind: "ended", range: ended },
  ] as const;
  const conditions = requested.flatMap(({ kind, range }) =>
    range === undefined ? [] : [sql`hour IN (${hourBucketsOf(ofProject(project), { kind, range })})`],
  );
  return conditions.length === 0 ? undefined : join(conditions, " AND ");
}

function nonEmpty(list: readonly string[] | null | undefined): readonly string[] | undefined {
  return list == null || list.length === 0 ? undefined : list;
}
