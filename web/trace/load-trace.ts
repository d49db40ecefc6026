import { ask, askLines, type Asking, type Question } from "../api/ask.ts";
import type { TraceCallsQuery, TraceUsage, TraceUsageQuery } from "../api/routes.ts";
import { callReader, type CallLine, type TraceCall } from "./trace-call.ts";

export interface LoadedTrace {
  readonly calls: readonly TraceCall[];
  /** Undefined: it is not known yet. */
  readonly used: UsedByCalls | undefined;
}

/** What the calls of a trace used. */
export interface UsedByCalls {
  /** With everything below. */
  readonly total: TraceUsage["call_usage"];
  /** Of each call alone. */
  readonly own: TraceUsage["call_usage"];
  /** The calls for which `total` and `own` are not complete, because they still run. */
  readonly unfinishedIds: readonly string[];
  /** The trace has more calls than are added up. */
  readonly truncated: boolean;
}

const MAX_CALLS = 1_000_000;

/** The three questions a trace is made of. */
export function traceQuestions(
  project_id: string,
  trace_id: string,
): readonly [Question, Question, Question] {
  const calls = { project_id, trace_id } satisfies TraceCallsQuery;
  const usage = {
    project_id,
    filter: { trace_ids: [trace_id] },
    include_costs: true,
    limit: MAX_CALLS,
  } satisfies TraceUsageQuery;
  return [
    { path: "/trace/calls", body: calls },
    { path: "/trace/usage", body: usage },
    { path: "/trace/usage", body: { ...usage, own_only: true } },
  ];
}

/** `show`: takes the calls as soon as they are there. What they used is asked then: of a large trace, the tree comes first. */
export async function loadTrace(
  project: string,
  traceId: string,
  { asking, show }: { readonly asking: Asking; readonly show: (trace: LoadedTrace) => void },
): Promise<LoadedTrace> {
  const [callsQuestion, usageQuestion, ownQuestion] = traceQuestions(project, traceId);
  const calls = await loadCalls(callsQuestion, asking);
  show({ calls, used: undefined });
  const [usage, own] = await Promise.all([
    ask<TraceUsage>(usageQuestion, asking),
    ask<TraceUsage>(ownQuestion, asking),
  ]);
  const used = {
    total: usage.body.call_usage,
    own: own.body.call_usage,
    unfinishedIds: usage.body.unfinished_call_ids,
    truncated: usage.truncated || own.truncated,
  };
  return { calls, used };
}

async function loadCalls(question: Question, asking: Asking): Promise<readonly TraceCall[]> {
  const calls: TraceCall[] = [];
  let read: ((line: CallLine) => TraceCall) | undefined;
  const take = (line: CallLine): void => {
    if (read === undefined) read = callReader(line);
    else calls.push(read(line));
  };
  await askLines<CallLine>(question, take, asking);
  return calls;
}
