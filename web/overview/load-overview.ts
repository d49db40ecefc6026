import { postJson, type RequestOptions } from "../api/client.ts";
import type { BodyOf, Query, UsageStats, UsageTotal } from "../api/routes.ts";
import { boundsOf, type TimeRange } from "../state/time-range.ts";
import { FREQUENT, groupBy, type Frequent } from "../state/groups.ts";

export interface OverviewQuestion {
  readonly project: string;
  readonly zone: string;
  readonly window: TimeRange;
  readonly before: TimeRange | undefined;
}

/** A group whose cost grew. */
export interface Increase {
  readonly by: Frequent;
  readonly name: string;
  readonly now: UsageTotal;
  /** Undefined: it was not there. */
  readonly earlier: UsageTotal | undefined;
  readonly moreUsd: number;
}

export interface Overview {
  readonly stats: UsageStats;
  readonly before: UsageStats | undefined;
  readonly increases: readonly Increase[];
  /** Operations with failed calls, and what these used themselves. */
  readonly failing: UsageStats["groups"];
  /** Calls that began more than an hour ago and have not ended. */
  readonly neverEnded: number;
}

const MAX_INCREASES = 6;
const MAX_FAILING = 5;
const ONE_BUCKET = 3_155_760_000;
const HOUR_MS = 3_600_000;
const LATENCY = { percentiles: [95] };

type StatsBody = BodyOf<"/usage/stats">;

export async function loadOverview(question: OverviewQuestion, asking: RequestOptions): Promise<Overview> {
  const { project, zone, window, before } = question;
  const base = { project_id: project, timezone: zone, include_costs: true };
  const stats = async (of: TimeRange, more: Partial<StatsBody>): Promise<UsageStats> =>
    (await postJson({ path: "/usage/stats", body: { ...base, ...boundsOf(of), ...more } }, asking)).body;
  const [now, then, increases, failing, neverEnded] = await Promise.all([
    stats(window, { latency: LATENCY }),
    before && stats(before, { latency: LATENCY }),
    before && increasesOf(stats, window, before),
    stats(window, {
      granularity: ONE_BUCKET,
      group_by: ["op_name"],
      query: { $expr: { $eq: [{ $getField: "summary.weave.status" }, { $literal: "error" }] } },
      order_by: "errors",
      limit: MAX_FAILING,
    }),
    countNeverEnded(question, asking),
  ]);
  return {
    stats: now,
    before: then,
    increases: increases ?? [],
    failing: failing.groups.filter(({ total }) => total.errors > 0),
    neverEnded,
  };
}

async function increasesOf(
  stats: (of: TimeRange, more: Partial<StatsBody>) => Promise<UsageStats>,
  window: TimeRange,
  before: TimeRange,
): Promise<readonly Increase[]> {
  const found = await Promise.all(
    (Object.keys(FREQUENT) as Frequent[]).map(async (by) => {
      const grouped = { granularity: ONE_BUCKET, group_by: [groupBy(by)], limit: 1000 };
      const [now, then] = await Promise.all([stats(window, grouped), stats(before, grouped)]);
      const earlier = new Map(then.groups.map(({ key, total }) => [key[by], total]));
      return now.groups.flatMap(({ key, total }): Increase[] => {
        const old = earlier.get(key[by]);
        // what is not among the groups that are listed may have been there
        if (old === undefined && then.other !== null) return [];
        const moreUsd = (total.total_cost ?? 0) - (old?.total_cost ?? 0);
        const name = key[by] ?? null;
        if (moreUsd <= 0 || name === null) return [];
        return [{ by, name: String(name), now: total, earlier: old, moreUsd }];
      });
    }),
  );
  return found
    .flat()
    .toSorted((a, b) => b.moreUsd - a.moreUsd)
    .slice(0, MAX_INCREASES);
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
