import type { Engine } from "../../store/engine.ts";
import { inTraces, LIVE } from "../../query/index.ts";
import { param, sql } from "../../query/sql.ts";
import { planSelection } from "../plan.ts";
import { traceRowBytes, selectTraces } from "../store.ts";
import { idOf, isSelected, type CallTable } from "../table/call-table.ts";
import { LlmNames } from "../table/llm-names.ts";
import { readCallTable } from "../table/read-call-table.ts";
import { AppError, invalid } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";

export interface CallAsked {
  readonly project: Project;
  readonly callId: string;
  readonly traceId: string | undefined;
}

export interface TraceOfCall {
  readonly traceId: string;
  readonly calls: CallTable;
  readonly names: LlmNames;
  readonly call: number;
  /** The provider's id of the completion that the call reports, '' for none. */
  readonly completionId: string;
}

const TRACES_TOLD = 2;

/**
 * The whole trace of a call. Errors: not_found; validation if calls of several traces have the id; too_many_calls if the
 * trace has more than `maxCalls`.
 */
export async function readTraceOf(
  engine: Engine,
  { project, callId, traceId }: CallAsked,
  { maxCalls, signal }: { maxCalls: number; signal: AbortSignal },
): Promise<TraceOfCall> {
  const filter = { call_ids: [callId], trace_ids: traceId === undefined ? undefined : [traceId] };
  const selection = planSelection(project, { filter, limit: TRACES_TOLD });
  const { traces } = await selectTraces(engine, selection, signal);
  const [trace] = traces;
  if (trace === undefined) throw new AppError("not_found", "There is no such call in this project.");
  if (traces.length > 1) throw ambiguous();
  const names = new LlmNames();
  const read = { project, traceId: trace.traceId, condition: selection.condition, limit: maxCalls + 1 };
  const [bytes, completionId] = await Promise.all([
    traceRowBytes(engine, read, signal),
    readCompletionId(engine, { project, callId, traceId: trace.traceId }),
  ]);
  const calls = readCallTable(bytes, [{ ...trace, ids: undefined }], names);
  if (calls.count > maxCalls) {
    throw new AppError("too_many_calls", `The trace has more than ${maxCalls} calls. Raise MAX_TRACE_CALLS.`);
  }
  for (let call = 0; call < calls.count; call++) {
    if (isSelected(calls, call) && idOf(calls, call) === callId)
      return { traceId: trace.traceId, calls, names, call, completionId };
  }
  throw new AppError("not_found", "There is no such call in this project.");
}

async function readCompletionId(
  engine: Engine,
  { project, callId, traceId }: CallAsked & { traceId: string },
): Promise<string> {
  const rows = await engine.rows<{ completion_id: string }>(
    sql`SELECT ifNull(completion_id, '') AS completion_id FROM calls FINAL
        PREWHERE project_id = ${param("String", project)}
          AND ${inTraces(project, [traceId])} AND id = ${param("String", callId)}
        WHERE ${LIVE}`,
    { name: "receipt_completion" },
  );
  return rows[0]?.completion_id ?? "";
}

function ambiguous(): AppError {
  const msg = "Calls of several traces have this id. Name the trace (trace_id).";
  return invalid([{ loc: ["body", "trace_id"], msg, type: "ambiguous_id" }]);
}
