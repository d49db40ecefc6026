import { namesIn } from "../../calls/events/report-names.ts";
import { findBetter } from "../../calls/reports/find-reports.ts";
import type { Engine } from "../../store/engine.ts";
import { inTraces } from "../../query/trace-hours.ts";
import { IS_VISIBLE } from "../../query/fields/columns.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { param, sql, type Sql } from "../../query/sql.ts";
import { AppError, invalid } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import { planCalls } from "../plan.ts";
import { readCalls } from "../read-calls.ts";
import { countsElsewhere, isSelected, type CallTable } from "../table/call-table.ts";
import { LlmDictionary } from "../table/llm-dictionary.ts";
import { moreColumns, text } from "../table/more-columns.ts";

export interface CallRequest {
  readonly project: Project;
  readonly callId: string;
  readonly traceId: string | undefined;
}

export interface TraceOfCall {
  readonly traceId: string;
  readonly calls: CallTable;
  readonly names: LlmDictionary;
  readonly call: number;
  /** Provider's completion id of the call, '' for none. */
  readonly completionId: string;
  /** `UsageBasis` in the call's attributes; '' if there is none. */
  readonly usageBasis: string;
  /** The call that counts the request that this one reports, if it counts elsewhere. */
  readonly supersededBy: CallOfTrace | undefined;
}

export interface CallOfTrace {
  readonly id: string;
  readonly traceId: string;
}

/** Two calls with the id prove that it is ambiguous. */
const MAX_CALLS_WITH_ID = 2;

/**
 * Reads the whole trace of a call. Throws `not_found`; `validation` if calls of several traces have the id; `too_many_calls`
 * if the trace has more than `maxCalls`.
 */
export async function readTraceOf(
  engine: Engine,
  { project, callId, traceId }: CallRequest,
  { maxCalls, signal }: { maxCalls: number; signal: AbortSignal },
): Promise<TraceOfCall> {
  const filter = { call_ids: [callId], trace_ids: traceId === undefined ? undefined : [traceId] };
  const names = new LlmDictionary();
  const found = await readCalls(engine, planCalls(project, { filter, limit: MAX_CALLS_WITH_ID }), {
    names,
    columns,
    maxCalls,
    tooMany: (what) =>
      new AppError("too_many_calls", `The trace has ${what}; a receipt reads at most ${maxCalls}.`),
    signal,
  });
  if (found.traceCount > 1) throw ambiguous();
  for await (const { calls, more } of found.tables) {
    for (let call = 0; call < calls.count; call++)
      if (isSelected(calls, call)) {
        const ids = { traceId: more.traceId(call), completionId: more.completionId(call) };
        const of = { project, callId, traceId: ids.traceId };
        const { basis: usageBasis, reports } = await readFacts(engine, of, signal);
        const isCounted = !countsElsewhere(calls, call);
        const supersededBy = isCounted ? undefined : await findBetter(engine, project, namesIn(reports));
        return { calls, names, call, ...ids, usageBasis, supersededBy };
      }
  }
  throw new AppError("not_found", "The call does not exist in this project.");
}

/** Reads members of the call that are not read for a whole trace. */
async function readFacts(
  engine: Engine,
  { project, callId, traceId }: CallRequest & { readonly traceId: string },
  signal: AbortSignal,
): Promise<{ readonly basis: string; readonly reports: string }> {
  const [row] = await engine.rows<{ basis: string; reports: string }>(
    sql`SELECT JSONExtractString(ifNull(attributes, ''), 'otel', 'usage_basis') AS basis, ifNull(reports, '') AS reports
        FROM calls FINAL
        PREWHERE ${ofProject(project)} AND ${inTraces(project, [traceId])} AND id = ${param("String", callId)}
        WHERE ${IS_VISIBLE} LIMIT 1`,
    { name: "receipt_facts", signal },
  );
  return row ?? { basis: "", reports: "" };
}

function ambiguous(): AppError {
  const msg = "Calls of several traces have this id. Set trace_id.";
  return invalid([{ loc: ["body", "trace_id"], msg, type: "ambiguous_id" }]);
}

const columns = moreColumns((selected) => {
  const ofSelected = (column: Sql): Sql => sql`if(ifNull(${selected}, 0), ${column}, '')`;
  return {
    traceId: text(ofSelected(sql`trace_id`)),
    completionId: text(ofSelected(sql`ifNull(completion_id, '')`)),
  };
});
