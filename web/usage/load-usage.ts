import { postJson, type RequestOptions, type ApiRequest } from "../api/client.ts";
import type { UsageStats, Query } from "../api/routes.ts";
import { ANY_FAILED, narrowed, ROOT_FAILED } from "../state/drill.ts";
import { ERROR, groupBy, type Subject } from "../state/groups.ts";
import { mergeErrors } from "../state/merge-errors.ts";
import { readQuery } from "../state/query.ts";
import { usageOfTraces } from "../state/select-traces.ts";
import { boundsOf, granularityOf, ONE_BUCKET, type Interval, type TimeRange } from "../state/time-range.ts";
import { MEASURES, type Measure } from "./measures.ts";

export interface UsageQuestion {
  readonly project: string;
  readonly window: TimeRange;
  /** Comparison period; undefined for none. */
  readonly before: TimeRange | undefined;
  readonly zone: string;
  readonly of: Subject;
  /** Names of groups, or fields of calls. */
  readonly groups: readonly string[];
  readonly measure: Measure;
  readonly interval: Interval;
  /** The search. */
  readonly text: string;
}

export interface LoadedUsage {
  readonly question: UsageQuestion;
  readonly stats: UsageStats;
  /** The same groups in the window that this one is compared with. */
  readonly before: UsageStats | undefined;
}

const MAX_GROUPS = 1000;

export function usageQuestion(question: UsageQuestion): ApiRequest<"/usage/stats"> {
  const { project, window, zone, of, groups, measure, interval } = question;
  const { order = "total_cost" } = MEASURES[measure];
  const body = {
    project_id: project,
    ...boundsOf(window),
    timezone: zone,
    granularity: granularityOf(window, interval),
    ...selectionOf(question),
    group_by: groups.map(groupBy),
    include_costs: true,
    ...((of === "traces" || measure === "latency") && { latency: { percentiles: [95] } }),
    order_by: of === "traces" && order === "errors" ? "traces_failed" : order,
    ...(groups.includes(ERROR) && { limit: MAX_GROUPS }),
  };
  return { path: "/usage/stats", body };
}

/** The search for all that is counted: errors are of what failed. */
export function searchBehind({ text, of, groups }: UsageQuestion): string {
  return groups.includes(ERROR) ? narrowed(text, [of === "calls" ? ANY_FAILED : ROOT_FAILED]) : text;
}

function selectionOf(question: UsageQuestion) {
  const { of } = question;
  const query = readQuery(searchBehind(question), of);
  if (of === "traces") return { of, ...usageOfTraces(query) };
  return query.operand === undefined ? {} : { query: { $expr: query.operand } as Query };
}

export async function loadUsage(question: UsageQuestion, asking: RequestOptions): Promise<LoadedUsage> {
  const { groups, measure } = question;
  const [stats, before] = await Promise.all([
    postJson(usageQuestion(question), asking),
    question.before && postJson(earlier(question, question.before), asking),
  ]);
  const merged = (one: UsageStats): UsageStats =>
    groups.includes(ERROR) ? mergeErrors(one, MEASURES[measure].valueOf) : one;
  return { question, stats: merged(stats.body), before: before && merged(before.body) };
}

function earlier(question: UsageQuestion, window: TimeRange): ApiRequest<"/usage/stats"> {
  const { path, body } = usageQuestion({ ...question, window });
  return { path, body: { ...body, granularity: ONE_BUCKET, limit: MAX_GROUPS } };
}
