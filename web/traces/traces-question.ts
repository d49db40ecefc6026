import type { ApiRequest } from "../api/client.ts";
import type { BodyOf } from "../api/routes.ts";
import { whichOf, type TracesAsked } from "./which-traces.ts";

/** Sort orders of traces over the whole window, as in the URL. */
export const SORTS = {
  newest: { by: "started_at", direction: "desc" },
  oldest: { by: "started_at", direction: "asc" },
  cost: { by: "total_cost", direction: "desc" },
  tokens: { by: "total_tokens", direction: "desc" },
  latency: { by: "latency_ms", direction: "desc" },
  calls: { by: "calls", direction: "desc" },
  errors: { by: "errors", direction: "desc" },
} as const;
export type Sort = keyof typeof SORTS;

export function sortOf(text: string | undefined): Sort {
  return text !== undefined && Object.hasOwn(SORTS, text) ? (text as Sort) : "newest";
}

export interface TracesQuestion extends TracesAsked {
  readonly sort: Sort;
}

export function tracesQuestion(
  question: TracesQuestion,
  more: Partial<Pick<BodyOf<"/trace/query">, "limit" | "page_token" | "include_total">>,
): ApiRequest<"/trace/query"> {
  const { by, direction } = SORTS[question.sort];
  return {
    path: "/trace/query",
    body: { ...whichOf(question), order_by: by, direction, include_costs: true, ...more },
  };
}
