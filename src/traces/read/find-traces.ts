import { IS_VISIBLE } from "../../query/fields/columns.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { join, param, sql, type Sql } from "../../query/sql.ts";
import { AppError } from "../../shared/errors.ts";
import type { Reading } from "../../usage-rollup/hours.ts";
import { RowBinaryReader } from "../../store/rows/row-binary.ts";
import type { SelectedTrace } from "../../trace-usage/plan.ts";
import type { TimeWindow } from "../../buckets/buckets.ts";
import { HAS_FAILED, LATENCY, NO_LATENCY } from "../../usage-rollup/usage-record.ts";

/** Trace without its figures. */
export interface FoundTrace extends SelectedTrace {
  /** Start of the root, or without one of the first call, in microseconds since the epoch. */
  readonly startedUs: number;
  /** Latency of the root; undefined if it has not ended, or there is none. */
  readonly latencyMs: number | undefined;
  /** True if it has a root, which failed. */
  readonly hasFailed: boolean;
}

const IS_CHILD = sql`ifNull(parent_id, '') != ''`;

/** Columns of a trace. `first`: of its root, or without one of its earliest call. */
const COLUMNS = sql`trace_id, toInt64(count()), groupUniqArray(hour),
  argMin(tuple(toUInt8(${IS_CHILD}), toUnixTimestamp64Micro(assumeNotNull(started_at)), toInt64(${LATENCY}), toUInt8(${HAS_FAILED})),
    (${IS_CHILD}, started_at, id)) AS first`;

interface FindRequest {
  /** SQL predicate of all calls of the traces; it can be used in PREWHERE. */
  readonly where: readonly Sql[];
  /** Window in which the traces start. */
  readonly started: TimeWindow;
  /** Maximum number of traces. */
  readonly most: number;
}

/** Finds traces. Errors: `StorageError`; too_many_calls if there are more than `most`. */
export async function findTraces(
  { engine, project, signal }: Reading,
  { where, started, most }: FindRequest,
): Promise<readonly FoundTrace[]> {
  const bytes = await engine.bytes(
    sql`SELECT ${COLUMNS} FROM calls FINAL PREWHERE ${join([ofProject(project), ...where], " AND ")}
      WHERE ${IS_VISIBLE} GROUP BY trace_id HAVING ${startedWithin(started)} LIMIT ${param("UInt32", most + 1)}`,
    "RowBinary",
    { name: "traces_find", limits: "heavy", signal },
  );
  const reader = new RowBinaryReader(bytes);
  const traces: FoundTrace[] = [];
  while (!reader.done) traces.push(readTrace(reader));
  if (traces.length > most) throw tooManyTraces(most);
  return traces;
}

function readTrace(reader: RowBinaryReader): FoundTrace {
  const [traceId, callCount, hours] = [reader.string(), reader.int64(), reader.int32s()];
  const [isChild, startedUs, latency] = [reader.uint8() === 1, reader.int64(), reader.int64()];
  const hasFailed = reader.uint8() === 1 && !isChild;
  const latencyMs = isChild || latency === NO_LATENCY ? undefined : latency;
  return { traceId, startedUs, latencyMs, hasFailed, callCount, hours, ids: undefined };
}

function startedWithin({ startUs, endUs }: TimeWindow): Sql {
  return sql`first.2 >= ${param("Int64", startUs)} AND first.2 < ${param("Int64", endUs)}`;
}

function tooManyTraces(most: number): AppError {
  return new AppError(
    "too_many_calls",
    `More than ${most} traces of this window changed recently or are not yet in the usage rollup. ` +
      "Use a shorter window or add conditions.",
  );
}
