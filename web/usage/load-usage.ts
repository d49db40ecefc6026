import { ask, type Asking, type Question } from "../api/ask.ts";
import type { UsageStats, Query } from "../api/routes.ts";
import { isNamed } from "./groups.ts";
import type { TimeWindow } from "../state/time-window.ts";

export interface UsageQuestion {
  readonly project: string;
  readonly window: TimeWindow;
  readonly zone: string;
  /** Names of `GROUPS`, or fields of calls. */
  readonly groups: readonly string[];
  readonly measure: Measure;
  /** An operand of `$expr`. */
  readonly operand: unknown;
}

/** The measures, and the member that orders the groups. */
export const MEASURES = {
  cost: { label: "cost", member: "total_cost" },
  tokens: { label: "tokens", member: "total_tokens" },
  calls: { label: "calls", member: "calls" },
  errors: { label: "errors", member: "errors" },
} as const;
export type Measure = keyof typeof MEASURES;

export interface LoadedUsage {
  readonly stats: UsageStats;
  /** The window of the same length before it. */
  readonly before: UsageStats["total"];
}

export function usageQuestion(question: UsageQuestion): Question<"/usage/stats"> {
  const { project, window, zone, groups, measure, operand } = question;
  const body = {
    project_id: project,
    start: new Date(window.fromMs).toISOString(),
    ...(window.toMs !== undefined && { end: new Date(window.toMs).toISOString() }),
    timezone: zone,
    ...(operand !== undefined && { query: { $expr: operand } as Query }),
    group_by: groups.map((group) => (isNamed(group) ? group : { $getField: group })),
    include_costs: true,
    order_by: MEASURES[measure].member,
  };
  return { path: "/usage/stats", body };
}

export async function loadUsage(question: UsageQuestion, asking: Asking): Promise<LoadedUsage> {
  const { fromMs, toMs = Date.now() } = question.window;
  const earlier = { ...question, groups: [], window: { fromMs: fromMs - (toMs - fromMs), toMs: fromMs } };
  const [stats, before] = await Promise.all([
    ask(usageQuestion(question), asking),
    ask(usageQuestion(earlier), asking),
  ]);
  return { stats: stats.body, before: before.body.total };
}
