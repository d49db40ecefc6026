import { ask, askLines, type Asking, type Question } from "../api/ask.ts";
import type { Call, CallsQuery, TraceUsage, TraceUsageQuery } from "../api/routes.ts";
import { TRACE_COLUMNS, traceCallOf, type TraceCall } from "./trace-call.ts";

export interface LoadedTrace {
  readonly calls: readonly TraceCall[];
  readonly usage: TraceUsage;
  /** Of each call alone. */
  readonly own: TraceUsage["call_usage"];
  /** The trace has more calls than are shown. */
  readonly truncated: boolean;
}

const MAX_CALLS = 1_000_000;

/** The three questions a trace is made of. */
export function traceQuestions(project_id: string, traceId: string): readonly [Question, Question, Question] {
  const filter = { trace_ids: [traceId] };
  const calls = { project_id, filter, columns: TRACE_COLUMNS, limit: MAX_CALLS } satisfies CallsQuery;
  const usage = { project_id, filter, include_costs: true, limit: MAX_CALLS } satisfies TraceUsageQuery;
  return [
    { path: "/calls/stream_query", body: calls },
    { path: "/trace/usage", body: usage },
    { path: "/trace/usage", body: { ...usage, own_only: true } },
  ];
}

export async function loadTrace(project: string, traceId: string, asking: Asking): Promise<LoadedTrace> {
  const [callsQuestion, usageQuestion, ownQuestion] = traceQuestions(project, traceId);
  const calls: TraceCall[] = [];
  const [lines, usage, own] = await Promise.all([
    askLines<Call>(callsQuestion, (call) => calls.push(traceCallOf(call)), asking),
    ask<TraceUsage>(usageQuestion, asking),
    ask<TraceUsage>(ownQuestion, asking),
  ]);
  const truncated = lines.truncated || usage.truncated || own.truncated;
  return { calls, usage: usage.body, own: own.body.call_usage, truncated };
}
