import { IS_ROOT, IS_VISIBLE } from "../query/fields/columns.ts";
import { ofProject } from "../query/hour-buckets.ts";
import { inHoursOf } from "../query/key-range.ts";
import { param, sql, trusted, type Sql } from "../query/sql.ts";
import { inTraces } from "../query/trace-hours.ts";
import { fromCallsWithIds } from "../ratings/calls-of-feedback.ts";
import { callsWithFeedback, ratedCalls } from "../ratings/rated-calls.ts";
import type { RatingCondition } from "../ratings/schema.ts";
import { AppError } from "../shared/errors.ts";
import type { Project } from "../shared/project.ts";
import type { Engine } from "../store/engine.ts";
import { RowBinaryReader } from "../store/rows/row-binary.ts";
import { hoursOfWindow, planCalls } from "../trace-usage/plan.ts";
import type { StatsPlan } from "./plan/plan-stats.ts";
import type { UsageStatsRequest } from "./schema.ts";

/** Selected call that feedback rates. */
export interface RatedCall {
  readonly traceId: string;
  readonly id: string;
  readonly passed: boolean;
}

interface RatedRequest {
  readonly project: Project;
  readonly request: Pick<UsageStatsRequest, "filter" | "query" | "outcome">;
  readonly plan: StatsPlan;
  readonly signal: AbortSignal;
}

/** Ids of rated calls are all in memory. */
const MAX_RATED = 1_000_000;
/** Using the index for more values than these takes longer than reading the rows. */
const SETTINGS = trusted("SETTINGS use_index_for_in_with_subqueries_max_values = 100000");

/**
 * Reads the rated calls that a request selects; with `"of": "traces"`, those that are the root of their trace. None without
 * `outcome`. Errors: `StorageError`; too_many_calls if there are more than `maxCalls` or `MAX_RATED`.
 */
export async function readRatedCalls(
  engine: Engine,
  { project, request, plan, signal }: RatedRequest,
  maxCalls: number,
): Promise<readonly RatedCall[]> {
  const { outcome } = request;
  if (outcome == null || plan.buckets.startsUs.length === 0) return [];
  const most = Math.min(maxCalls, MAX_RATED);
  const statement = sql`${ratedStatement({ project, request, plan }, outcome)} LIMIT ${param("UInt32", most + 1)} ${SETTINGS}`;
  const bytes = await engine.bytes(statement, "RowBinary", { name: "usage_rated", limits: "heavy", signal });
  const reader = new RowBinaryReader(bytes);
  const rated: RatedCall[] = [];
  while (!reader.done)
    rated.push({ traceId: reader.string(), id: reader.string(), passed: reader.uint8() === 1 });
  if (rated.length > most)
    throw new AppError(
      "too_many_calls",
      `More than ${most} of the selected calls are rated. Use a shorter window or select fewer calls.`,
    );
  return rated;
}

/** Reads only calls with a storage key in the hours of the window, and with feedback. */
function ratedStatement(
  { project, request: { filter, query }, plan: { window, of } }: Omit<RatedRequest, "signal">,
  outcome: RatingCondition,
): Sql {
  const { condition, whereSelected } = planCalls(project, { filter, query, window });
  const inHours = inHoursOf(project, { started: hoursOfWindow(window), ended: undefined })!;
  const ids = sql`(SELECT id FROM call_keys
    WHERE ${ofProject(project)} AND id IN ${callsWithFeedback(project, outcome)} AND ${inHours})`;
  const isRoot = of === "traces" ? sql` AND (trace_id, id) IN ${rootsOf(project, ids)}` : sql``;
  const isSelected = sql`toUInt8(ifNull(${whereSelected} AND ${condition}${isRoot}, 0))`;
  return sql`SELECT found.first.1, ratings.call_id, toUInt8(ratings.passed)
    FROM ${ratedCalls(project, outcome)} AS ratings
    INNER JOIN (SELECT id, argMin((trace_id, ${isSelected}), (started_at, trace_id)) AS first
      ${fromCallsWithIds(project, ids)} GROUP BY id HAVING first.2 = 1) AS found ON ratings.call_id = found.id`;
}

/** Subquery of the roots, as (trace_id, id), of the traces that have these calls. */
function rootsOf(project: Project, ids: Sql): Sql {
  const traces = sql`(SELECT trace_id FROM call_keys WHERE ${ofProject(project)} AND id IN ${ids})`;
  return sql`(SELECT trace_id, argMin(id, (started_at, id)) FROM calls FINAL
    PREWHERE ${ofProject(project)} AND ${inTraces(project, traces)}
    WHERE ${IS_VISIBLE} AND ${IS_ROOT} GROUP BY trace_id)`;
}
