import type { Question } from "../api/ask.ts";
import type { Query } from "../api/routes.ts";
import type { TimeWindow } from "../state/time-window.ts";
import type { CostFilter } from "./cost-filter.ts";

export const SORTS = { newest: "newest", cost: "most expensive", tokens: "most tokens" } as const;
export type Sort = keyof typeof SORTS;

export interface TracesQuestion {
  readonly project: string;
  readonly window: TimeWindow;
  /** An operand of `$expr`. */
  readonly operand: unknown;
  readonly sort: Sort;
  /** The order of the traces. */
  readonly cost: CostFilter | undefined;
}

const MAX_COUNTED = 10_000;

export function queryOf({ window, operand }: TracesQuestion): Query {
  const at = (ms: number) => [{ $getField: "started_at" }, { $literal: new Date(ms).toISOString() }];
  const conditions: unknown[] = [{ $gte: at(window.fromMs) }];
  if (window.toMs !== undefined) conditions.push({ $lt: at(window.toMs) });
  if (operand !== undefined) conditions.push(operand);
  return { $expr: { $and: conditions } } as Query;
}

/** What every trace of the window cost. */
export function usageQuestion(question: TracesQuestion): Question<"/trace/usage"> {
  const body = {
    project_id: question.project,
    filter: { trace_roots_only: true },
    query: queryOf(question),
    include_costs: true,
    limit: MAX_COUNTED,
  };
  return { path: "/trace/usage", body };
}
