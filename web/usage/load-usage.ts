import { postJson, type RequestOptions, type ApiRequest } from "../api/client.ts";
import type { UsageStats, Query } from "../api/routes.ts";
import { groupBy } from "../state/groups.ts";
import { boundsOf, type TimeRange } from "../state/time-range.ts";

export interface UsageQuestion {
  readonly project: string;
  readonly window: TimeRange;
  /** Comparison period; undefined for none. */
  readonly before: TimeRange | undefined;
  readonly zone: string;
  /** Names of groups, or fields of calls. */
  readonly groups: readonly string[];
  readonly measure: Measure;
  readonly interval: Interval;
  /** An operand of `$expr`. */
  readonly operand: unknown;
}

/** The measures, and the member that orders the groups. */
export const MEASURES = {
  cost: { label: "Cost", member: "total_cost" },
  tokens: { label: "Tokens", member: "total_tokens" },
  calls: { label: "Calls", member: "calls" },
  errors: { label: "Failures", member: "errors" },
} as const;
export type Measure = keyof typeof MEASURES;

/** The sizes of buckets, in seconds. */
export const INTERVALS = {
  auto: { label: "Auto", seconds: undefined },
  hour: { label: "Hour", seconds: 3600 },
  day: { label: "Day", seconds: 86_400 },
  week: { label: "Week", seconds: 604_800 },
} as const;
export type Interval = keyof typeof INTERVALS;

export function intervalOf(text: string | undefined): Interval {
  return text !== undefined && Object.hasOwn(INTERVALS, text) ? (text as Interval) : "auto";
}

export interface LoadedUsage {
  readonly stats: UsageStats;
  /** The same groups in the window that this one is compared with. */
  readonly before: UsageStats | undefined;
}

const MAX_COMPARED = 1000;
/** One bucket, however long the window is. */
const ONE_BUCKET = 3_155_760_000;

export function usageQuestion(question: UsageQuestion): ApiRequest<"/usage/stats"> {
  const { project, window, zone, groups, measure, operand, interval } = question;
  const { seconds } = INTERVALS[interval];
  const body = {
    project_id: project,
    ...boundsOf(window),
    timezone: zone,
    ...(seconds !== undefined && { granularity: seconds }),
    ...(operand !== undefined && { query: { $expr: operand } as Query }),
    group_by: groups.map(groupBy),
    include_costs: true,
    order_by: MEASURES[measure].member,
  };
  return { path: "/usage/stats", body };
}

export async function loadUsage(question: UsageQuestion, asking: RequestOptions): Promise<LoadedUsage> {
  const [stats, before] = await Promise.all([
    postJson(usageQuestion(question), asking),
    question.before && postJson(earlier(question, question.before), asking),
  ]);
  return { stats: stats.body, before: before?.body };
}

function earlier(question: UsageQuestion, window: TimeRange): ApiRequest<"/usage/stats"> {
  const { path, body } = usageQuestion({ ...question, window });
  return { path, body: { ...body, granularity: ONE_BUCKET, limit: MAX_COMPARED } };
}
