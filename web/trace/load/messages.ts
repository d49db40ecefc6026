import type { ApiClient, ApiRequest } from "../../api/client.ts";
import type { Failure } from "../../api/failure.ts";
import type { CallTree } from "../tree/call-tree.ts";
import type { UsageColumns } from "../tree/usage-columns.ts";

/** The task of a worker. */
export interface TraceTask {
  readonly questions: TraceQuestions;
  readonly caller: ApiClient;
}

/** Its messages, in this order; the last is `used` or `failed`. */
export type WorkerMessage =
  | { readonly kind: "progress"; readonly calls: number }
  | { readonly kind: "tree"; readonly tree: CallTree }
  | { readonly kind: "used"; readonly used: UsedByCalls }
  | { readonly kind: "failed"; readonly failure: Failure };

/** Usage of the calls of a trace. */
export interface UsedByCalls {
  /** Including everything below. */
  readonly total: UsageColumns;
  /** Own usage of each call. */
  readonly own: UsageColumns;
  /** 1: `total` and `own` are not complete, because the call or something below it still runs. */
  readonly unfinished: Uint8Array<ArrayBuffer>;
  /** The trace has too many calls to add up all of them. */
  readonly truncated: boolean;
}

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
