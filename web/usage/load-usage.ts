import { ask, type Asking, type Question } from "../api/ask.ts";
import type { UsageStats, UsageStatsQuery } from "../api/routes.ts";
import type { TimeWindow } from "../state/time-window.ts";

export const GROUPS = {
  llm: "model",
  provider: "provider",
  op_name: "operation",
  svc_user_id: "user",
  svc_run_id: "run",
  thread_id: "thread",
  trace_id: "trace",
  status: "status",
} as const;
type Named = keyof typeof GROUPS;

export interface UsageQuestion {
  readonly project: string;
  readonly window: TimeWindow;
  readonly zone: string;
  /** A name of `GROUPS`, a field of calls, or nothing. */
  readonly group: string;
  readonly measure: Measure;
  /** An operand of `$expr`. */
  readonly operand: unknown;
}

/** What is stacked, and by which member groups are ordered. */
export const MEASURES = {
  cost: { label: "cost", member: "total_cost" },
  tokens: { label: "tokens", member: "total_tokens" },
  calls: { label: "calls", member: "calls" },
  errors: { label: "errors", member: "errors" },
} as const;
export type Measure = keyof typeof MEASURES;

export interface LoadedUsage {
  readonly stats: UsageStats;
  /** Of the window as long before it. */
  readonly before: UsageStats["total"];
}

export function usageQuestion(question: UsageQuestion): Question {
  const { project, window, zone, group, measure, operand } = question;
  const body = {
    project_id: project,
    start: new Date(window.fromMs).toISOString(),
    ...(window.toMs !== undefined && { end: new Date(window.toMs).toISOString() }),
    timezone: zone,
    ...(operand !== undefined && { query: { $expr: operand } as UsageStatsQuery["query"] & object }),
    group_by: group === "" ? [] : [isNamed(group) ? group : { $getField: group }],
    include_costs: true,
    order_by: MEASURES[measure].member,
  } satisfies UsageStatsQuery;
  return { path: "/usage/stats", body };
}

function isNamed(group: string): group is Named {
  return Object.hasOwn(GROUPS, group);
}

export async function loadUsage(question: UsageQuestion, asking: Asking): Promise<LoadedUsage> {
  const { fromMs, toMs = Date.now() } = question.window;
  const earlier = { ...question, group: "", window: { fromMs: fromMs - (toMs - fromMs), toMs: fromMs } };
  const [stats, before] = await Promise.all([
    ask<UsageStats>(usageQuestion(question), asking),
    ask<UsageStats>(usageQuestion(earlier), asking),
  ]);
  return { stats: stats.body, before: before.body.total };
}
