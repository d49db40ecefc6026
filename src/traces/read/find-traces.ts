import { computedColumns, HAS_ENDED } from "../../query/fields/columns.ts";
import { IS_VISIBLE } from "../../query/index.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { join, param, sql, type Sql } from "../../query/sql.ts";
import { AppError } from "../../shared/errors.ts";
import { toStoreText } from "../../shared/instant.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";
import { RowBinaryReader } from "../../store/rows/row-binary.ts";
import type { SelectedTrace } from "../../trace-usage/selection.ts";
import type { TimeWindow } from "../../buckets/buckets.ts";

/** Trace without its usage. */
export interface FoundTrace extends SelectedTrace {
  /** Start of the root, or without one of the first call, in microseconds since the epoch. */
  readonly startedUs: number;
  /** Latency of the root; undefined if it has not ended, or there is none. */
  readonly latencyMs: number | undefined;
  readonly unfinished: number;
}

/** Sort key that is least for the root of a trace, or without one for its earliest call. */
export const ROOT_FIRST = sql`(ifNull(parent_id, '') != '', started_at, id)`;
export const HAS_FAILED = sql`(ifNull(exception, '') != '')`;
const STARTED = sql`argMin(assumeNotNull(started_at), ${ROOT_FIRST})`;
const NO_LATENCY = Number.MIN_SAFE_INTEGER;
const NONE = param("Int64", NO_LATENCY);
const LATENCY = sql`ifNull(${computedColumns.get("latency_ms")!.sql}, ${NONE})`;
const COLUMNS = sql`trace_id, toUnixTimestamp64Micro(${STARTED}),
  toInt64(if(min(ifNull(parent_id, '') != ''), ${NONE}, argMin(${LATENCY}, ${ROOT_FIRST}))),
  toInt64(count()), toInt64(countIf(NOT ${HAS_ENDED})), groupUniqArray(hour)`;

export interface FindRequest {
  readonly project: Project;
  /** SQL predicate of all calls of the traces; it can be used in PREWHERE. */
  readonly where: readonly Sql[];
  /** Window of the start of the traces; default: any time. */
  readonly started?: TimeWindow;
  /** Maximum number of traces. */
  readonly most: number;
}

/** Finds traces. Errors: `StorageError`; too_many_calls if there are more than `most`. */
export async function findTraces(
  engine: Engine,
  { project, where, started, most }: FindRequest,
  signal: AbortSignal,
): Promise<readonly FoundTrace[]> {
  const having = started === undefined ? sql`` : sql`HAVING ${startedWithin(started)}`;
  const bytes = await engine.bytes(
    sql`SELECT ${COLUMNS} FROM calls FINAL PREWHERE ${join([ofProject(project), ...where], " AND ")}
      WHERE ${IS_VISIBLE} GROUP BY trace_id ${having} LIMIT ${param("UInt32", most + 1)}`,
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
  const [traceId, startedUs, latencyMs] = [reader.string(), reader.int64(), reader.int64()];
  const [callCount, unfinished] = [reader.int64(), reader.int64()];
  return {
    traceId,
    startedUs,
    latencyMs: latencyMs === NO_LATENCY ? undefined : latencyMs,
    callCount,
    unfinished,
    hours: reader.int32s(),
    ids: undefined,
  };
}

/** Range of the store: years 1900 to 2254. */
const [FIRST_US, LAST_US] = [Date.UTC(1900, 0, 1) * 1000, Date.UTC(2255, 0, 1) * 1000];

function startedWithin({ startUs, endUs }: TimeWindow): Sql {
  const instant = (us: number) =>
    param("DateTime64(6, 'UTC')", toStoreText(Math.min(Math.max(us, FIRST_US), LAST_US)));
  return sql`${STARTED} >= ${instant(startUs)} AND ${STARTED} < ${instant(endUs)}`;
}

function tooManyTraces(most: number): AppError {
  return new AppError(
    "too_many_calls",
    `More than ${most} traces of this window changed recently or are not yet in the usage rollup. ` +
      "Use a shorter window, add conditions, or raise MAX_STATS_AGGREGATES.",
  );
}
