import {
  compileFilter,
  compileQuery,
  reachOf,
  type HourRange,
  type CallsFilter,
  type CompiledQuery,
  type Reach,
  type SelectionLimits,
} from "../query/index.ts";
import { join, param, sql, type Sql } from "../query/sql.ts";
import { invalid } from "../shared/errors.ts";
import { hourOf, toStoreText } from "../shared/instant.ts";
import type { Project } from "../shared/project.ts";
import type { TimeWindow } from "../buckets/buckets.ts";
import type { Selection } from "./selection.ts";

export interface SelectionRequest {
  readonly filter?: CallsFilter | null | undefined;
  readonly query?: unknown;
  readonly limit: number;
  /** When the calls started; default: any time. */
  readonly window?: TimeWindow;
}

/** Selects the calls that match filter and query. Errors: validation. */
export function planSelection(
  project: Project,
  { filter, query: written, limit, window }: SelectionRequest,
  limits?: SelectionLimits,
): Selection {
  const query = compile(project, written, limits);
  const conditions = [
    ...(window === undefined ? [] : [startedIn(window)]),
    compileFilter(withoutTraces(filter)),
    ...(query === undefined ? [] : [query.condition]),
  ];
  return {
    project,
    condition: sql`(${join(conditions, " AND ")})`,
    reach: reachOf({
      project,
      filter,
      query,
      startedIn: window === undefined ? undefined : hoursOfWindow(window),
    }),
    onlyTrace: filter?.trace_ids?.length === 1 ? filter.trace_ids[0] : undefined,
    evaluateOnce: query !== undefined && (query.payload !== undefined || query.readsFeedback),
    limit,
  };
}

/** The instants that the store can hold: beyond them there are no calls. */
const FIRST_US = Date.UTC(1900, 0, 1) * 1000;
const LAST_US = Date.UTC(2255, 0, 1) * 1000;

function startedIn({ startUs, endUs }: TimeWindow): Sql {
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

const NOWHERE: Reach = {
  calls: sql`0`,
  traces: sql`(SELECT '' WHERE 0)`,
  window: undefined,
  range: { started: undefined, ended: undefined },
  isBounded: true,
  isWholeWindow: false,
  hours: 0,
};

/** Selects exactly the given calls. */
export function planRoots(
  project: Project,
  request: { callIds: readonly string[]; limit: number },
): Selection {
  const { callIds, limit } = request;
  const selection = planSelection(project, { filter: { call_ids: [...callIds] }, limit });
  return callIds.length === 0 ? { ...selection, condition: sql`0`, reach: NOWHERE } : selection;
}
