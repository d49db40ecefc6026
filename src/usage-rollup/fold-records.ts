import { inTurns } from "../fairness/turns.ts";
import type { Reading } from "./hours.ts";
import { eachOwnUsage } from "../trace-usage/fold/own-usage.ts";
import { wastedCalls } from "../trace-usage/fold/wasted-calls.ts";
import { isSelected, type CallTable } from "../trace-usage/table/call-table.ts";
import { LlmDictionary } from "../trace-usage/table/llm-dictionary.ts";
import { callTableSteps, foldColumns } from "../trace-usage/table/read-call-table.ts";
import { type Sql, param, sql } from "../query/sql.ts";
import { AppError } from "../shared/errors.ts";
import type { Steps } from "../shared/steps.ts";
import { isMore, NOTHING_YET } from "../usage/most-used.ts";
import {
  NO_LATENCY,
  NO_USAGE,
  recordUsageOf,
  type CallField,
  type UsageRecord,
  type RecordUsage,
  HAS_FAILED,
  LATENCY,
} from "./usage-record.ts";
import { columns, computedColumns, IS_ROOT, IS_VISIBLE } from "../query/fields/columns.ts";
import { flag, integer, moreColumns, text, unsigned } from "../trace-usage/table/more-columns.ts";

const textOf = (value: Sql) => text(sql`CAST(${value}, 'String')`);
const field = (name: string) => textOf(columns.get(name)!.sql);

/** Columns of a record beside those of the fold. */
const recordColumns = moreColumns(() => ({
  isError: flag(HAS_FAILED),
  isRoot: flag(sql`(${IS_ROOT})`),
  latencyMs: integer(LATENCY),
  hour: integer(sql`hour`),
  op_name: field("op_name"),
  trace_id: field("trace_id"),
  thread_id: field("thread_id"),
  turn_id: field("turn_id"),
  svc_user_id: field("svc_user_id"),
  svc_run_id: field("svc_run_id"),
  api_key: textOf(sql`ifNull(api_key, '')`),
  status: textOf(computedColumns.get("status")!.sql),
  /** Sum of the fingerprints of all rows. */
  fingerprint: unsigned(sql`fingerprints`),
}));
type RecordColumns = ReturnType<typeof recordColumns.open>["more"];

/**
 * Reads the calls of traces as Native blocks. Deleted calls are included as empty, unselected rows, because each row carries
 * the fingerprint of all rows.
 */
function readRecordBytes({ engine, project, signal }: Reading, within: Sql): Promise<Buffer> {
  const live = sql`live`;
  return engine.bytes(
    sql`SELECT ${foldColumns({ selected: live, isCall: live, ofTraces: true })}${recordColumns.select(live)}
        FROM (
          SELECT *, ifNull(${IS_VISIBLE}, 0) AS live, sum(fingerprint) OVER () AS fingerprints
          FROM calls FINAL PREWHERE project_id = ${param("String", project)} AND ${within}
        )`,
    "Native",
    { name: "usage_rollup_read", limits: "maintenance", signal },
  );
}

export interface FoldedRecords {
  /** Fingerprint of exactly the rows that were folded. */
  readonly fingerprint: bigint;
  readonly records: readonly UsageRecord[];
  /** Hour bucket of each record's call. */
  readonly hours: readonly number[];
}

/** Reads whole traces and computes a usage record per call and LLM. `undefined`: too many calls, or a count above 2^53 - 1. */
export async function foldRecords(reading: Reading, within: Sql): Promise<FoldedRecords | undefined> {
  const bytes = await readRecordBytes(reading, within);
  const names = new LlmDictionary();
  const { more: columns, readMore } = recordColumns.open(bytes);
  using calls = await inTurns(callTableSteps(bytes, undefined, names, { readMore }));
  try {
    const folded = await inTurns(recordsOf(calls, columns, names));
    return folded && { fingerprint: columns.fingerprint(0), ...folded };
  } catch (error) {
    // leaves this hour to query time, so that other projects are still materialized
    if (error instanceof AppError && error.code === "too_many_calls") return undefined;
    throw error;
  }
}

function* recordsOf(
  calls: CallTable,
  columns: RecordColumns,
  names: LlmDictionary,
): Steps<Pick<FoldedRecords, "records" | "hours"> | undefined> {
  const records: UsageRecord[] = [];
  const hours: number[] = [];
  let isExact = true;
  const isFirst = firstCalls(calls, columns);
  const isWasted = wastedCalls(calls, columns.isError);
  yield* eachOwnUsage({ calls, names }, (call, usages) => {
    const used = usages.map(recordUsageOf);
    if (!used.every((usage) => usage !== undefined)) {
      isExact = false;
      return;
    }
    const of = {
      started_at_us: calls.startedAtUs[call]!,
      ...fieldsOf(columns, call),
      is_first: isFirst[call]!,
      is_wasted: isWasted[call]!,
      records: 1,
    };
    const latency_ms = columns.latencyMs(call);
    const unfinished = latency_ms === NO_LATENCY ? 1 : 0;
    const counted = { calls: 1, errors: Number(columns.isError(call)), unfinished, latency_ms };
    const notCounted = { calls: 0, errors: 0, unfinished: 0, latency_ms: NO_LATENCY };
    const primary = indexOfMost(used);
    if (used.length === 0) records.push({ ...of, ...counted, ...NO_USAGE });
    for (const [index, usage] of used.entries())
      records.push({ ...of, ...(index === primary ? counted : notCounted), ...usage });
    while (hours.length < records.length) hours.push(columns.hour(call));
  });
  return isExact ? { records, hours } : undefined;
}

/** Marks the root of each trace with 1: its earliest call without a parent, or its earliest call. */
function firstCalls(calls: CallTable, { trace_id: traceOf, isRoot }: RecordColumns): Uint8Array {
  const isBefore = (one: number, other: number): boolean => {
    const order =
      Number(isRoot(other)) - Number(isRoot(one)) || calls.startedAtUs[one]! - calls.startedAtUs[other]!;
    return (order || compareIds(calls, one, other)) < 0;
  };
  const first = new Map<string, number>();
  for (let call = 0; call < calls.count; call++) {
    if (!isSelected(calls, call)) continue;
    const known = first.get(traceOf(call));
    if (known === undefined || isBefore(call, known)) first.set(traceOf(call), call);
  }
  const marks = new Uint8Array(calls.count);
  for (const call of first.values()) marks[call] = 1;
  return marks;
}

function compareIds({ source, ids }: CallTable, one: number, other: number): number {
  return source.compare(source, ids.starts[other], ids.ends[other], ids.starts[one], ids.ends[one]);
}

function indexOfMost(used: readonly RecordUsage[]): number {
  let [index, most] = [0, NOTHING_YET];
  for (const [at, { total_tokens: tokens }] of used.entries())
    if (isMore(tokens, most)) [index, most] = [at, tokens];
  return index;
}

/** Unrolled for speed: runs for every call. */
function fieldsOf(columns: RecordColumns, call: number): Pick<UsageRecord, CallField | "is_root"> {
  return {
    op_name: columns.op_name(call),
    trace_id: columns.trace_id(call),
    thread_id: columns.thread_id(call),
    turn_id: columns.turn_id(call),
    svc_user_id: columns.svc_user_id(call),
    svc_run_id: columns.svc_run_id(call),
    api_key: columns.api_key(call),
    status: columns.status(call),
    is_root: Number(columns.isRoot(call)),
  };
}
