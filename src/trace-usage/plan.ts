import {
  aroundHours,
  compileFilter,
  compileQuery,
  hasNonTimeConditions,
  inTraces,
  keyRangeOf,
  LIVE,
  tracesOfRange,
  whereSelected,
  type CallsFilter,
  type CompiledQuery,
  type HourRange,
  type SelectionLimits,
} from "../query/index.ts";
import { ofProject } from "../query/hour-buckets.ts";
import { inHoursOf } from "../query/key-range.ts";
import { join, param, sql, type Sql } from "../query/sql.ts";
import { invalid } from "../shared/errors.ts";
import { hourOf, toStoreText } from "../shared/instant.ts";
import type { Project } from "../shared/project.ts";
import type { TimeWindow } from "../buckets/buckets.ts";
import { withoutRootStatement } from "./read/count-without-root.ts";
import type { SelectedTrace, Selection } from "./selection.ts";

/** How the traces of the selected calls are read. */
export type Strategy =
  /** The filter names a single trace: it is read at once. */
  | { readonly kind: "one trace"; readonly traceId: string }
  /**
   * The calls started within few hours: the traces around them are read at once. `isWhole`: also those without a selected call,
   * because nothing but the time, and being a root, selects; finding out which ones these are would cost more.
   */
  | { readonly kind: "short window"; readonly started: HourRange; readonly isWhole: boolean }
  /** The traces are counted first, and then read some at a time. */
  | { readonly kind: "counted traces" }
  /** The condition reads payloads or feedback, and is evaluated once: the calls are chosen by their ids. */
  | { readonly kind: "chosen calls" }
  /** These are. */
  | { readonly kind: "known traces"; readonly traces: readonly SelectedTrace[] };

/** Which calls are selected, and how all calls of their traces are read. */
export interface CallsPlan extends Selection {
  /** True for every selected call; it can be used in a PREWHERE. */
  readonly whereSelected: Sql;
  /** True for all calls of the selected calls' traces, and for no others unless the whole project is read. */
  readonly whereTraces: Sql;
  readonly strategy: Strategy;
  /** At most this many calls, the oldest; undefined: all. */
  readonly limit: number | undefined;
}

/** The plan of a question, which also counts. */
export interface QueryPlan extends CallsPlan {
  /** Counts the traces without a root of which a call matches filter and query, `trace_roots_only` aside. */
  readonly withoutRoot: Sql;
}

export interface CallsRequest {
  readonly filter?: CallsFilter | null | undefined;
  readonly query?: unknown;
  readonly limit?: number;
  /** When the calls started; default: any time. */
  readonly window?: TimeWindow;
}

/** A longer window may have more calls than are read at once, and would be read in vain. */
const MAX_HOURS_AT_ONCE = 3;

/** Selects the calls that match filter and query. Errors: validation. */
export function planCalls(
  project: Project,
  { filter, query: written, limit, window }: CallsRequest,
  limits?: SelectionLimits,
): QueryPlan {
  const query = compile(project, written, limits);
  const startedIn = window === undefined ? undefined : hoursOfWindow(window);
  const asked = { project, filter, query, startedIn };
  const anywhere = { ...asked, filter: { ...filter, trace_roots_only: undefined } };
  const selection = { project, condition: conditionOf(asked, window) };
  return {
    ...selection,
    whereSelected: whereSelected(asked),
    whereTraces: whereTraces(selection, asked),
    strategy: strategyFor(asked),
    withoutRoot: withoutRootStatement(anywhere, conditionOf(anywhere, window)),
    limit,
  };
}

function conditionOf({ filter, query }: Asked, window: TimeWindow | undefined): Sql {
  const conditions = [
    ...(window === undefined ? [] : [startedWithin(window)]),
    compileFilter(withoutTraces(filter)),
    ...(query === undefined ? [] : [query.condition]),
  ];
  return sql`(${join(conditions, " AND ")})`;
}

type Asked = Parameters<typeof whereSelected>[0];

function strategyFor({ filter, query, startedIn }: Asked): Strategy {
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

/** All calls of the selected calls' traces, or of the whole project if it has to be read anyway. */
function whereTraces(selection: Selection, asked: Asked): Sql {
  const { project } = selection;
  const range = keyRangeOf(asked);
  const traces = tracesOfRange(project, range);
  if (traces !== undefined) return inTraces(project, traces);
  const inHours = inHoursOf(project, range);
  return inHours === undefined ? sql`1` : selectedTraces(selection, { inHours, where: whereSelected(asked) });
}

/** All calls of the traces that have selected calls under some hours. `where`: true for every selected call. */
export function selectedTraces(
  { project, condition }: Selection,
  { inHours, where }: { readonly inHours: Sql; readonly where: Sql },
): Sql {
  return sql`trace_id IN (SELECT trace_id FROM calls FINAL
    PREWHERE ${ofProject(project)} AND ${where} WHERE ${LIVE} AND ${condition}) AND ${aroundHours(project, inHours)}`;
}

/** Selects exactly the given calls. */
export function planCallIds(project: Project, callIds: readonly string[], limit: number): CallsPlan {
  const plan = planCalls(project, { filter: { call_ids: [...callIds] }, limit });
  // an empty list in a filter restricts nothing
  return callIds.length > 0 ? plan : { ...plan, strategy: { kind: "known traces", traces: [] } };
}

/** The instants that the store can hold: beyond them there are no calls. */
const FIRST_US = Date.UTC(1900, 0, 1) * 1000;
const LAST_US = Date.UTC(2255, 0, 1) * 1000;

function startedWithin({ startUs, endUs }: TimeWindow): Sql {
  return sql`started_at >= ${instant(startUs)} AND started_at < ${instant(endUs)}`;
}

function instant(us: number) {
  return param("DateTime64(6, 'UTC')", toStoreText(bounded(us)));
}

/** The hours of the instants in it that the store can hold. */
export function hoursOfWindow({ startUs, endUs }: TimeWindow): HourRange {
  return { from: hourOf(bounded(startUs)), to: hourOf(bounded(endUs) - 1) };
}

function bounded(us: number): number {
  return Math.min(Math.max(us, FIRST_US), LAST_US);
}

/** The condition on the traces already implies it. */
function withoutTraces(filter: CallsFilter | null | undefined): CallsFilter | null | undefined {
  return filter?.trace_ids?.length ? { ...filter, trace_ids: undefined } : filter;
}

function compile(
  project: Project,
  query: unknown,
  limits: SelectionLimits | undefined,
): CompiledQuery | undefined {
  if (query == null) return undefined;
  const compiled = compileQuery(query, limits === undefined ? { project } : { project, limits });
  if (compiled.ok) return compiled;
  throw invalid(compiled.issues.map((issue) => ({ ...issue, loc: ["body", ...issue.loc] })));
}
