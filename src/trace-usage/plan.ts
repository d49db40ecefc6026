import { inTracesOfHours, inTraces } from "../query/trace-hours.ts";
import { compileFilter } from "../query/filter.ts";
import { compileQuery } from "../query/compile.ts";
import { hasNonTimeConditions, whereSelected } from "../query/narrow.ts";
import { keyRangeOf, tracesOfRange, type CallsSelection, inHoursOf } from "../query/key-range.ts";
import { IS_VISIBLE } from "../query/fields/columns.ts";
import type { CallsFilter } from "../query/read/wire-schema.ts";
import type { HourRange } from "../query/bounds/time-range.ts";
import { ofProject } from "../query/hour-buckets.ts";
import { join, param, sql, type Sql } from "../query/sql.ts";
import { hourOf, toStoreText } from "../shared/instant.ts";
import type { Project } from "../shared/project.ts";
import type { TimeWindow } from "../buckets/buckets.ts";
import type { KnownTrace } from "./table/trace-dictionary.ts";

/**
 * Reads the traces of a few hours in one statement. `isWhole`: includes traces without a selected call, because only time and
 * being a root select, and excluding them would cost more.
 */
export interface ShortWindow {
  readonly kind: "short window";
  readonly started: HourRange;
  readonly isWhole: boolean;
}

/** Method of reading the traces of the selected calls. */
export type Strategy =
  /** Reads the single trace of the filter in one statement. */
  | { readonly kind: "one trace"; readonly traceId: string }
  | ShortWindow
  /** Counts the traces first, then reads them in groups. */
  | { readonly kind: "counted traces" }
  /** Evaluates a condition on payloads or feedback once, then selects calls by id. */
  | { readonly kind: "chosen calls" }
  /** Reads the given traces. */
  | { readonly kind: "known traces"; readonly traces: readonly SelectedTrace[] };

/** Trace with selected calls. */
export interface SelectedTrace extends KnownTrace {
  /** Number of its calls, selected or not. */
  readonly callCount: number;
  /** Hour buckets of its calls. */
  readonly hours: readonly number[];
}

/** Selection of calls, and the method of reading all calls of their traces. */
export interface CallsPlan {
  readonly project: Project;
  /** SQL condition of filter and query, over the columns of `calls`. */
  readonly condition: Sql;
  /** SQL condition for PREWHERE, true for every selected call. */
  readonly whereSelected: Sql;
  /** SQL condition: all calls of the selected calls' traces, and no others unless the whole project is read. */
  readonly whereTraces: Sql;
  readonly strategy: Strategy;
  /** Maximum number of selected calls, oldest first; `undefined`: all. */
  readonly limit: number | undefined;
}

export interface CallsRequest {
  readonly filter?: CallsFilter | null | undefined;
  readonly query?: unknown;
  readonly limit?: number;
  /** Half-open interval of `started_at`. Default: unbounded. */
  readonly window?: TimeWindow;
}

/** A longer window probably exceeds `MAX_AT_ONCE` calls and would be read twice. */
const MAX_HOURS_AT_ONCE = 3;

/** Plans the calls that match filter and query. Throws `validation`. */
export function planCalls(
  project: Project,
  { filter, query: written, limit, window }: CallsRequest,
): CallsPlan {
  const query = written == null ? undefined : compileQuery(written, { project });
  const startedIn = window === undefined ? undefined : hoursOfWindow(window);
  const selected = { project, filter, query, startedIn };
  const condition = conditionOf(selected, window);
  return {
    project,
    condition,
    whereSelected: whereSelected(selected),
    whereTraces: whereTraces(selected, condition),
    strategy: strategyFor(selected),
    limit,
  };
}

function conditionOf({ filter, query }: CallsSelection, window: TimeWindow | undefined): Sql {
  const conditions = [
    ...(window === undefined ? [] : [startedWithin(window)]),
    compileFilter(withoutTraces(filter)),
    ...(query === undefined ? [] : [query.condition]),
  ];
  return sql`(${join(conditions, " AND ")})`;
}

function strategyFor({ filter, query, startedIn }: CallsSelection): Strategy {
  if (query !== undefined && (query.payload !== undefined || query.readsFeedback))
    return { kind: "chosen calls" };
  const [traceId, ...others] = filter?.trace_ids ?? [];
  if (traceId !== undefined && others.length === 0) return { kind: "one trace", traceId };
  const range = keyRangeOf({ filter, query, startedIn });
  const { started } = range;
  if (range.in !== "project" || started === undefined) return { kind: "counted traces" };
  if (started.to - started.from >= MAX_HOURS_AT_ONCE) return { kind: "counted traces" };
  return { kind: "short window", started, isWhole: !hasNonTimeConditions({ filter, query }) };
}

/** SQL condition: all calls of the selected calls' traces, or of the whole project if it must be read anyway. */
function whereTraces(selected: CallsSelection, condition: Sql): Sql {
  const { project } = selected;
  const range = keyRangeOf(selected);
  const traces = tracesOfRange(project, range);
  if (traces !== undefined) return inTraces(project, traces);
  const inHours = inHoursOf(project, range);
  return inHours === undefined
    ? sql`1`
    : selectedTraces({ project, condition }, { inHours, where: whereSelected(selected) });
}

/** SQL condition: all calls of traces with selected calls in some hours. `where`: true for every selected call. */
export function selectedTraces(
  { project, condition }: Pick<CallsPlan, "project" | "condition">,
  { inHours, where }: { readonly inHours: Sql; readonly where: Sql },
): Sql {
  return sql`trace_id IN (SELECT trace_id FROM calls FINAL
    PREWHERE ${ofProject(project)} AND ${where} WHERE ${IS_VISIBLE} AND ${condition}) AND ${inTracesOfHours(project, inHours)}`;
}

/** Plans exactly the given calls. */
export function planCallIds(project: Project, callIds: readonly string[], limit: number): CallsPlan {
  const plan = planCalls(project, { filter: { call_ids: [...callIds] }, limit });
  // an empty list in a filter would select everything
  return callIds.length > 0 ? plan : { ...plan, strategy: { kind: "known traces", traces: [] } };
}

/** Range of DateTime64, in microseconds. */
const FIRST_US = Date.UTC(1900, 0, 1) * 1000;
const LAST_US = Date.UTC(2255, 0, 1) * 1000;

function startedWithin({ startUs, endUs }: TimeWindow): Sql {
  return sql`started_at >= ${instant(startUs)} AND started_at < ${instant(endUs)}`;
}

function instant(us: number) {
  return param("DateTime64(6, 'UTC')", toStoreText(bounded(us)));
}

/** Converts a window to hours, within the range of DateTime64. */
export function hoursOfWindow({ startUs, endUs }: TimeWindow): HourRange {
  return { from: hourOf(bounded(startUs)), to: hourOf(bounded(endUs) - 1) };
}

function bounded(us: number): number {
  return Math.min(Math.max(us, FIRST_US), LAST_US);
}

/** Drops `trace_ids`, which the condition on traces implies. */
function withoutTraces(filter: CallsFilter | null | undefined): CallsFilter | null | undefined {
  return filter?.trace_ids?.length ? { ...filter, trace_ids: undefined } : filter;
}
