import type { TimeWindow } from "../../buckets/buckets.ts";
import { computedColumns } from "../../query/fields/columns.ts";
import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import type { SelectedTrace } from "../../trace-usage/selection.ts";
import { AppError } from "../../shared/errors.ts";
import type { Engine } from "../../store/engine.ts";
import { RowBinaryReader } from "../../store/rows/row-binary.ts";
import { HAS_FAILED, HAS_NOT_ENDED } from "../plan/call-conditions.ts";
import { ROOT_FIRST, selectTraces, STARTED, type TracesPlan } from "../plan/plan-traces.ts";

/** Trace without its usage. */
export interface FoundTrace {
  readonly traceId: string;
  /** Start of the root in microseconds since the epoch. */
  readonly startedAtUs: number;
  /** Latency of the root in milliseconds; undefined if it has not ended. */
  readonly latencyMs: number | undefined;
  readonly callCount: number;
  readonly errors: number;
  readonly unfinished: number;
  /** Hour buckets of its calls. */
  readonly hours: readonly number[];
  /** Requested value of the root as JSON; '' for none. */
  readonly key: string;
}

const NO_LATENCY = Number.MIN_SAFE_INTEGER;
const LATENCY = sql`ifNull(${computedColumns.get("latency_ms")!.sql}, ${param("Int64", NO_LATENCY)})`;
const STARTED_US = sql`toUnixTimestamp64Micro(${STARTED})`;
const FACTS = sql`trace_id, ${STARTED_US}, toInt64(argMin(${LATENCY}, ${ROOT_FIRST})), toInt64(count()),
  toInt64(countIf(${HAS_FAILED})), toInt64(countIf(${HAS_NOT_ENDED})), groupUniqArray(hour)`;

interface FindOptions {
  /** Window within that of the plan. */
  readonly window: TimeWindow;
  /** See `rootKey`. */
  readonly key?: Sql | undefined;
  readonly signal: AbortSignal;
}

/** Finds all traces of a plan that start in a window. Errors: `StorageError`; too_many_calls if there are more than `most`. */
export async function findAllTraces(
  engine: Engine,
  plan: TracesPlan,
  { most, ...options }: FindOptions & { readonly most: number },
): Promise<FoundTrace[]> {
  const traces = await readTraces(engine, plan, {
    ...options,
    also: sql`LIMIT ${param("UInt32", most + 1)}`,
  });
  if (traces.length > most) throw tooManyTraces(most);
  return traces;
}

/** Page of traces by start, then id. */
interface First {
  readonly direction: "asc" | "desc";
  readonly after: Pick<FoundTrace, "startedAtUs" | "traceId"> | undefined;
  readonly limit: number;
}

/** Finds a page of traces. Errors: `StorageError`. */
export function findTraces(
  engine: Engine,
  plan: TracesPlan,
  { first: { direction, after, limit }, ...options }: FindOptions & { readonly first: First },
): Promise<FoundTrace[]> {
  const order = trusted(direction);
  const isAfter =
    after === undefined
      ? sql``
      : sql`AND (${STARTED_US}, trace_id) ${trusted(direction === "desc" ? "<" : ">")}
          (${param("Int64", after.startedAtUs)}, ${param("String", after.traceId)})`;
  const also = sql`${isAfter} ORDER BY ${STARTED_US} ${order}, trace_id ${order} LIMIT ${param("UInt32", limit)}`;
  return readTraces(engine, plan, { ...options, also });
}

async function readTraces(
  engine: Engine,
  plan: TracesPlan,
  { window, key = sql`''`, also, signal }: FindOptions & { readonly also: Sql },
): Promise<FoundTrace[]> {
  if (window.endUs <= window.startUs) return [];
  const bytes = await engine.bytes(
    sql`${selectTraces(plan, window, sql`${FACTS}, ${key}`)} ${also}`,
    "RowBinary",
    {
      name: "traces_find",
      limits: "heavy",
      signal,
    },
  );
  const reader = new RowBinaryReader(bytes);
  const traces: FoundTrace[] = [];
  while (!reader.done) traces.push(readTrace(reader));
  return traces;
}

function readTrace(reader: RowBinaryReader): FoundTrace {
  const [traceId, startedAtUs, latencyMs] = [reader.string(), reader.int64(), reader.int64()];
  const [callCount, errors, unfinished] = [reader.int64(), reader.int64(), reader.int64()];
  return {
    traceId,
    startedAtUs,
    latencyMs: latencyMs === NO_LATENCY ? undefined : latencyMs,
    callCount,
    errors,
    unfinished,
    hours: reader.int32s(),
    key: reader.string(),
  };
}

/** Selects all calls of a trace. */
export function toSelected({ traceId, callCount, hours }: FoundTrace): SelectedTrace {
  return { traceId, callCount, hours, ids: undefined };
}

function tooManyTraces(most: number): AppError {
  return new AppError(
    "too_many_calls",
    `More than ${most} traces match. Use a shorter window, add conditions, or raise MAX_STATS_AGGREGATES; ` +
      "sorted by `started_at` and without `include_total`, any window is possible.",
  );
}
