import type { ApiRequest } from "../../api/client.ts";

/** The questions that a trace view asks. */
export interface TraceQuestions {
  readonly calls: ApiRequest<"/trace/calls">;
  /** Usage of each call, descendants included. */
  readonly total: ApiRequest<"/trace/usage">;
  /** Own usage that each call adds to the trace. */
  readonly own: ApiRequest<"/trace/usage">;
}

const MAX_CALLS = 1_000_000;

export function traceQuestions(project_id: string, trace_id: string): TraceQuestions {
  const usage = {
    project_id,
    filter: { trace_ids: [trace_id] },
    include_costs: true,
    full_costs: true,
    limit: MAX_CALLS,
  };
  return {
    calls: { path: "/trace/calls", body: { project_id, trace_id } },
    total: { path: "/trace/usage", body: usage },
    own: { path: "/trace/usage", body: { ...usage, own_only: true } },
  };
}
