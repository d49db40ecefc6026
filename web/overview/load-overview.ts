import { postJson, type RequestOptions } from "../api/client.ts";
import type { BodyOf, Query, TraceRow, UsageStats } from "../api/routes.ts";
import { ERROR, groupBy } from "../state/groups.ts";
import { mergeErrors } from "../state/merge-errors.ts";
import { OF_STATUS } from "../state/select-traces.ts";
import { boundsOf, granularityOf, ONE_BUCKET, type Interval, type TimeRange } from "../state/time-range.ts";
import type { HrefTo } from "../state/url-state.ts";
import { findChanges, type Change } from "./find-changes.ts";

export interface OverviewQuestion {
  readonly project: string;
  readonly zone: string;
  readonly window: TimeRange;
  readonly before: TimeRange | undefined;
  readonly interval: Interval;
}

type Group = UsageStats["groups"][number];

export interface Overview {
  readonly question: OverviewQuestion;
  readonly stats: UsageStats;
  readonly before: UsageStats | undefined;
  /** The same by trace. */
  readonly traces: UsageStats;
  readonly tracesBefore: UsageStats | undefined;
  readonly changes: readonly Change[];
  /** Errors of roots by pattern, those that wasted most first; `other`: there are more messages. */
  readonly errors: UsageStats;
  readonly dearest: readonly TraceRow[];
  /** By trace: the model and operation that cost most in it. */
  readonly dearestParts: ReadonlyMap<string, Group>;
  /** Calls that began more than an hour ago and have not ended. */
  readonly neverEnded: number;
}

/** Props of each section of the overview. */
export interface OverviewPart {
  readonly overview: Overview;
  readonly hrefTo: HrefTo;
}

const MAX_GROUPS = 1000;
const MAX_DEAREST = 5;
const HOUR_MS = 3_600_000;
const GROUPED = { granularity: ONE_BUCKET, limit: MAX_GROUPS };
const BY_ROOT = ["svc_user_id", "op_name", "attributes.version"].map(groupBy);

type StatsBody = BodyOf<"/usage/stats">;

export async function loadOverview(question: OverviewQuestion, asking: RequestOptions): Promise<Overview> {
  const { project, zone, window, before, interval } = question;
  const base = { project_id: project, timezone: zone, include_costs: true };
  const stats = async (of: TimeRange, more: Partial<StatsBody>): Promise<UsageStats> =>
    (await postJson({ path: "/usage/stats", body: { ...base, ...boundsOf(of), ...more } }, asking)).body;
  const granularity = granularityOf(window, interval);
  const both = (more: Partial<StatsBody>) =>
    Promise.all([stats(window, more), before && stats(before, more)]);
  const [calls, traces, cells, models, errors, dearest, neverEnded] = await Promise.all([
    both({ granularity }),
    both({ granularity, of: "traces", latency: { percentiles: [95] } }),
    before && both({ ...GROUPED, of: "traces", group_by: BY_ROOT }),
    before && both({ ...GROUPED, group_by: ["llm"] }),
    stats(window, {
      ...GROUPED,
      of: "traces",
      group_by: [groupBy(ERROR)],
      query: { $expr: OF_STATUS["failed"] } as Query,
      order_by: "wasted_cost",
    }),
    loadDearest(question, asking, stats),
    countNeverEnded(question, asking),
  ]);
  return {
    question,
    stats: calls[0],
    before: calls[1],
    traces: traces[0],
    tracesBefore: traces[1],
    changes: cells && models ? findChanges(cells, models) : [],
    errors: mergeErrors(errors, ({ wasted_cost: usd }) => usd ?? null),
    ...dearest,
    neverEnded,
  };
}

async function loadDearest(
  { project, window }: OverviewQuestion,
  asking: RequestOptions,
  stats: (of: TimeRange, more: Partial<StatsBody>) => Promise<UsageStats>,
): Promise<Pick<Overview, "dearest" | "dearestParts">> {
  const body = {
    project_id: project,
    ...boundsOf(window),
    order_by: "total_cost",
    limit: MAX_DEAREST,
  } as const;
  const { traces } = (await postJson({ path: "/traces/query", body }, asking)).body;
  const dearest = traces.filter(({ total_cost: usd }) => usd !== null && usd > 0);
  if (dearest.length === 0) return { dearest, dearestParts: new Map() };
  const { groups } = await stats(
    // a call may begin after the window of its root
    { fromMs: window.fromMs, toMs: undefined },
    {
      ...GROUPED,
      filter: { trace_ids: dearest.map(({ trace_id: id }) => id) },
      group_by: ["trace_id", "op_name", "llm"],
    },
  );
  const parts = Map.groupBy(groups, ({ key }) => String(key["trace_id"]));
  return { dearest, dearestParts: new Map([...parts].map(([id, [first]]) => [id, first!])) };
}

async function countNeverEnded(
  { project, window }: OverviewQuestion,
  asking: RequestOptions,
): Promise<number> {
  const at = (ms: number) => [{ $getField: "started_at" }, { $literal: new Date(ms).toISOString() }];
  const end = Math.min(window.toMs ?? Infinity, Date.now() - HOUR_MS);
  if (end <= window.fromMs) return 0;
  const query = {
    $expr: {
      $and: [
        { $eq: [{ $getField: "ended_at" }, { $literal: null }] },
        { $gte: at(window.fromMs) },
        { $lt: at(end) },
      ],
    },
  } as Query;
  const { body } = await postJson(
    { path: "/calls/query_stats", body: { project_id: project, query } },
    asking,
  );
  return body.count;
}
