import type { Engine } from "../../store/engine.ts";
import { rangesFor, type NativeReader, type TextRanges } from "../../store/rows/native-reader.ts";
import { inTraces, IS_VISIBLE } from "../../query/index.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { param, sql, type Sql } from "../../query/sql.ts";
import { AppError, invalid } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import { planCalls } from "../plan.ts";
import { readCalls, type ExtraColumns } from "../read-calls.ts";
import { isSelected, type CallTable } from "../table/call-table.ts";
import { LlmDictionary } from "../table/llm-dictionary.ts";

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
        const ids = more.idsOf(call);
        const usageBasis = await readUsageBasis(engine, { project, callId, traceId: ids.traceId }, signal);
        return { calls, names, call, ...ids, usageBasis };
      }
  }
  throw new AppError("not_found", "The call does not exist in this project.");
}

/** Reads a member of the call's attributes: a payload, which is not read for a whole trace. */
async function readUsageBasis(
  engine: Engine,
  { project, callId, traceId }: CallRequest & { readonly traceId: string },
  signal: AbortSignal,
): Promise<string> {
  const [row] = await engine.rows<{ basis: string }>(
    sql`SELECT JSONExtractString(ifNull(attributes, ''), 'otel', 'usage_basis') AS basis FROM calls FINAL
        PREWHERE ${ofProject(project)} AND ${inTraces(project, [traceId])} AND id = ${param("String", callId)}
        WHERE ${IS_VISIBLE} LIMIT 1`,
    { name: "receipt_usage_basis", signal },
  );
  return row?.basis ?? "";
}

function ambiguous(): AppError {
  const msg = "Calls of several traces have this id. Set trace_id.";
  return invalid([{ loc: ["body", "trace_id"], msg, type: "ambiguous_id" }]);
}

interface IdsOfCall {
  readonly traceId: string;
  readonly completionId: string;
}

/** Columns with the trace id and completion id of selected calls. */
class CallIds {
  private readonly ids = new Map<number, IdsOfCall>();
  private readonly source: Buffer;

  constructor(source: Buffer) {
    this.source = source;
  }

  idsOf(call: number): IdsOfCall {
    return this.ids.get(call)!;
  }

  readonly readBlock = (reader: NativeReader, first: number, count: number): void => {
    const [traces, completions] = [rangesFor(count), rangesFor(count)];
    reader.strings(traces, 0);
    reader.strings(completions, 0);
    for (let row = 0; row < count; row++) {
      const traceId = this.textAt(traces, row);
      if (traceId !== "") this.ids.set(first + row, { traceId, completionId: this.textAt(completions, row) });
    }
  };

  private textAt({ starts, ends }: TextRanges, row: number): string {
    return this.source.toString("utf8", starts[row], ends[row]);
  }
}

const columns: ExtraColumns<CallIds> = {
  select(selected) {
    const ofSelected = (column: Sql): Sql => sql`, if(ifNull(${selected}, 0), ${column}, '')`;
    return sql`${ofSelected(sql`trace_id`)}${ofSelected(sql`ifNull(completion_id, '')`)}`;
  },
  open(bytes) {
    const more = new CallIds(bytes);
    return { more, readBlock: more.readBlock };
  },
};
