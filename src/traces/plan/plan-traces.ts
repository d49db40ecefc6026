import type { TimeWindow } from "../../buckets/buckets.ts";
import { windowOf } from "../../http/schemas/window-fields.ts";
import { compileFilter } from "../../query/filter.ts";
import { compileQuery, type CompiledQuery } from "../../query/compile.ts";
import { inTraces, inTracesOfHours } from "../../query/trace-hours.ts";
import { IS_ROOT, IS_VISIBLE, MAY_BE_ROOT } from "../../query/fields/columns.ts";
import { keyRangeOf, tracesOfRange, inHoursOf } from "../../query/key-range.ts";
import { whereSelected } from "../../query/narrow.ts";
import type { CallsFilter } from "../../query/read/wire-schema.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { sql, type Sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import { hoursOfWindow } from "../../trace-usage/plan.ts";
import { rollupQueryOf } from "../../usage-rollup/rollup-query.ts";
import { totalConditions, type RequestedTotals, type TotalCondition } from "./totals.ts";

/** Selection of traces that start in a window, by their root and by any of their calls. */
export interface TracesPlan {
  readonly project: Project;
  readonly window: TimeWindow;
  readonly root: TraceCondition | undefined;
  readonly anyCall: TraceCondition | undefined;
  readonly totals: readonly TotalCondition[];
  /** True if the request names traces or calls, which are read directly. */
  readonly isNamed: boolean;
  /** SQL predicate of all calls of the traces that may be selected; it can be used in PREWHERE. */
  readonly place: Sql;
}

/** Condition on a trace. */
export interface TraceCondition {
  /** Over the columns of usage records; `undefined` if they cannot decide it. */
  readonly ofRecords: Sql | undefined;
  /** SQL subquery for the ids of the traces that meet it, among those with calls in `place`. */
  readonly tracesIn: (place: Sql) => Sql;
}

/** Conditions on one call. */
export interface CallConditions {
  readonly filter?: CallsFilter | null | undefined;
  readonly query?: unknown;
}

export interface TracesRequested extends CallConditions {
  readonly start: number;
  readonly end?: number | null | undefined;
  readonly any_call?: CallConditions | null | undefined;
  readonly totals?: RequestedTotals | null | undefined;
}

/** Plans a query. Errors: validation. */
export function planTraces(
  project: Project,
  { start, end, any_call, totals, ...root }: TracesRequested,
  nowMs: number,
): TracesPlan {
  const window = windowOf({ start, end }, nowMs);
  const ofRoot = compiled(project, root);
  const ofAny = compiled(project, any_call ?? {});
  const range = keyRangeOf({ ...ofRoot, startedIn: hoursOfWindow(window) });
  const traces = tracesOfRange(project, range);
  return {
    project,
    window,
    root: traceCondition(ofRoot, (place) => tracesByRoot(project, ofRoot, place)),
    anyCall: traceCondition(ofAny, (place) => tracesByCall(project, ofAny, place)),
    totals: totalConditions(totals ?? {}),
    isNamed: traces !== undefined,
    place:
      traces === undefined ? inTracesOfHours(project, inHoursOf(project, range)!) : inTraces(project, traces),
  };
}

interface Compiled {
  readonly filter: CallsFilter | null | undefined;
  readonly query: CompiledQuery | undefined;
}

function compiled(project: Project, { filter, query: written }: CallConditions): Compiled {
  return { filter, query: written == null ? undefined : compileQuery(written, { project }) };
}

/** `undefined` if it holds for all calls. */
function traceCondition(
  { filter, query }: Compiled,
  tracesIn: TraceCondition["tracesIn"],
): TraceCondition | undefined {
  const records = rollupQueryOf({ filter, query, fields: [], latencies: "none" });
  if (records !== undefined && records.condition === undefined) return undefined;
  return { ofRecords: records?.condition, tracesIn };
}

function tracesByRoot(project: Project, one: Compiled, place: Sql): Sql {
  // payloads are read for calls that may be roots only
  const among =
    one.query?.payload === undefined
      ? place
      : sql`${place} AND (hour, trace_id, id) IN (SELECT hour, trace_id, id FROM calls
          WHERE ${ofProject(project)} AND ${place} AND ${MAY_BE_ROOT})`;
  return sql`(SELECT trace_id FROM calls FINAL PREWHERE ${ofProject(project)} AND ${among}
    WHERE ${IS_VISIBLE} AND ${IS_ROOT} GROUP BY trace_id
    HAVING argMin(toUInt8(ifNull(${conditionOf(one)}, 0)), (started_at, id)) = 1)`;
}

function tracesByCall(project: Project, one: Compiled, place: Sql): Sql {
  return sql`(SELECT trace_id FROM calls FINAL
    PREWHERE ${ofProject(project)} AND ${place} AND ${whereSelected({ project, ...one })}
    WHERE ${IS_VISIBLE} AND ${conditionOf(one)})`;
}

function conditionOf({ filter, query }: Compiled): Sql {
  const ofFilter = compileFilter(filter);
  return query === undefined ? ofFilter : sql`(${ofFilter} AND ${query.condition})`;
}
