import type { Question } from "../../api/ask.ts";
import type { TraceCallsQuery, TraceUsageQuery } from "../../api/routes.ts";

/** What a trace is made of. */
export interface TraceQuestions {
  readonly calls: Question;
  /** What each call used with everything below it. */
  readonly total: Question;
  /** What each adds to the trace. */
  readonly own: Question;
}

const MAX_CALLS = 1_000_000;

export function traceQuestions(project_id: string, trace_id: string): TraceQuestions {
  const calls = { project_id, trace_id } satisfies TraceCallsQuery;
  const usage = {
    project_id,
    filter: { trace_ids: [trace_id] },
    include_costs: true,
    limit: MAX_CALLS,
  } satisfies TraceUsageQuery;
  return {
    calls: { path: "/trace/calls", body: calls },
    total: { path: "/trace/usage", body: usage },
    own: { path: "/trace/usage", body: { ...usage, own_only: true } },
  };
}
