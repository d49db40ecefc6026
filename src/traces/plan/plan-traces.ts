import type { TimeWindow } from "../../buckets/buckets.ts";
import { windowOf } from "../../http/schemas/window-fields.ts";
import {
  inTracesOfHours,
  compileFilter,
  inTraces,
  keyRangeOf,
  IS_VISIBLE,
  tracesOfRange,
  type CallsFilter,
  type SelectionLimits,
} from "../../query/index.ts";
import { inHoursOf } from "../../query/key-range.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { join, param, sql, type Sql } from "../../query/sql.ts";
import { hoursOfWindow } from "../../trace-usage/plan.ts";
import { toStoreText } from "../../shared/instant.ts";
import type { Project } from "../../shared/project.ts";
import type { AnyCall } from "../trace-selection.ts";
import { anyCallConditions, compiledQuery, conditionsOf, type CallConditions } from "./call-conditions.ts";

/** Selection of traces that start in a window and match conditions. */
export interface TracesPlan {
  readonly project: Project;
  readonly window: TimeWindow;
  /** Conditions on the root. */
  readonly root: CallConditions;
  /** Conditions that must each hold for some call. */
  readonly any: readonly CallConditions[];
  /** SQL predicate of all calls of the traces of a window within the plan's; it can be used in PREWHERE. */
  readonly placeIn: (window: TimeWindow) => Sql;
}

export interface TracesRequested {
  readonly start: number;
  readonly end?: number | null | undefined;
  readonly filter?: CallsFilter | null | undefined;
  readonly query?: unknown;
  readonly any?: readonly AnyCall[] | null | undefined;
}

export interface PlanSettings {
  readonly selectionLimits: SelectionLimits;
  readonly nowMs: number;
}

/** Plans a query. Errors: validation. */
export function planTraces(
  project: Project,
  { filter, query: written, any, ...window }: TracesRequested,
  { selectionLimits: limits, nowMs }: PlanSettings,
): TracesPlan {
  const query = written == null ? undefined : compiledQuery(project, written, { limits, loc: [] });
  const { narrow, payload } = conditionsOf(query);
  const placeIn = (within: TimeWindow): Sql => {
    const range = keyRangeOf({ filter, query, startedIn: hoursOfWindow(within) });
    const traces = tracesOfRange(project, range);
    return traces === undefined
      ? inTracesOfHours(project, inHoursOf(project, range)!)
      : inTraces(project, traces);
  };
  return {
    project,
    window: windowOf(window, nowMs),
    root: { narrow: [compileFilter(filter), ...narrow], payload },
    any: (any ?? []).map((one, place) => anyCallConditions(project, one, { limits, loc: ["any", place] })),
    placeIn,
  };
}

/** Sort key that is least for the root of a trace, or without one for its earliest call. */
export const ROOT_FIRST = sql`(ifNull(parent_id, '') != '', started_at, id)`;

/** Subquery for matching traces that started in `window`, with `columns` aggregated over their calls. */
export function selectTraces(plan: TracesPlan, window: TimeWindow, columns: Sql): Sql {
  const { project, root, any } = plan;
  const place = plan.placeIn(window);
  const callsWith = (ids: Sql, { narrow, payload, ofPart }: CallConditions): Sql => {
    const places =
      ofPart === undefined
        ? place
        : sql`${place} AND (hour, trace_id, id) IN
            (SELECT hour, trace_id, id FROM calls WHERE ${ofProject(project)} AND ${place} AND ${ofPart})`;
    return sql`(SELECT ${ids} FROM calls FINAL PREWHERE ${ofProject(project)} AND ${places}
      WHERE ${join([IS_VISIBLE, ...narrow, ...payload], " AND ")})`;
  };
  const ofPayloads = any.filter(({ payload }) => payload.length > 0);
  const where = ofPayloads.map((one) => sql`trace_id IN ${callsWith(sql`trace_id`, one)}`);
  const having = [
    startsWithin(window),
    ...root.narrow.map((condition) => sql`argMin(toUInt8(ifNull(${condition}, 0)), ${ROOT_FIRST})`),
    ...(root.payload.length > 0
      ? [sql`(trace_id, argMin(id, ${ROOT_FIRST})) IN ${callsWith(sql`trace_id, id`, root)}`]
      : []),
    ...any
      .filter(({ payload, narrow }) => payload.length === 0 && narrow.length > 0)
      .map(({ narrow }) => sql`max(toUInt8(ifNull(${join(narrow, " AND ")}, 0)))`),
  ];
  return sql`SELECT ${columns} FROM calls FINAL PREWHERE ${join([ofProject(project), place, ...where], " AND ")}
    WHERE ${IS_VISIBLE} GROUP BY trace_id HAVING ${join(having, " AND ")}`;
}

export const STARTED = sql`argMin(assumeNotNull(started_at), ${ROOT_FIRST})`;

/** Range of the store: years 1900 to 2254. */
const [FIRST_US, LAST_US] = [Date.UTC(1900, 0, 1) * 1000, Date.UTC(2255, 0, 1) * 1000];

function startsWithin({ startUs, endUs }: TimeWindow): Sql {
  const instant = (us: number) =>
    param("DateTime64(6, 'UTC')", toStoreText(Math.min(Math.max(us, FIRST_US), LAST_US)));
  return sql`${STARTED} >= ${instant(startUs)} AND ${STARTED} < ${instant(endUs)}`;
}
