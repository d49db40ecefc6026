import type { BodyOf } from "../api/routes.ts";
import type { AskedFor } from "../state/query.ts";
import { conditionsOf } from "../state/select-traces.ts";
import { boundsOf, type TimeRange } from "../state/time-range.ts";

/** Sort orders of traces over the whole window, as in the URL. */
export const SORTS = {
  newest: { by: "started_at", direction: "desc" },
  oldest: { by: "started_at", direction: "asc" },
  cost: { by: "total_cost", direction: "desc" },
  wasted: { by: "wasted_cost", direction: "desc" },
  tokens: { by: "total_tokens", direction: "desc" },
  latency: { by: "latency", direction: "desc" },
  calls: { by: "calls", direction: "desc" },
  errors: { by: "failed", direction: "desc" },
} as const;
export type Sort = keyof typeof SORTS;

export function sortOf(text: string | undefined): Sort {
  return text !== undefined && Object.hasOwn(SORTS, text) ? (text as Sort) : "newest";
}

export interface TracesQuestion {
  readonly project: string;
  readonly window: TimeRange;
  readonly sort: Sort;
  readonly query: AskedFor;
}

type Body = BodyOf<"/traces/query">;

export function tracesQuestion(
  { project, window, sort, query }: TracesQuestion,
  page: Pick<Body, "limit" | "page_token">,
): { readonly path: "/traces/query"; readonly body: Body } {
  const { by, direction } = SORTS[sort];
  const body = { ...selectionOf({ project, window }, query), order_by: by, direction, ...page };
  return { path: "/traces/query", body };
}

type Place = Pick<TracesQuestion, "project" | "window">;

/** The members of a request that select traces. */
export function selectionOf(place: Place, query: AskedFor) {
  return { ...placeOf(place), ...conditionsOf(query) };
}

export function placeOf({ project, window }: Place) {
  return {
    project_id: project,
    ...boundsOf(window),
  };
}
