import { chunksOf } from "../calls/trace-lookup.ts";
import type { Engine } from "../clickhouse/engine.ts";
import { RowBinaryReader } from "../clickhouse/row-binary.ts";
import { HAS_ENDED } from "../query/fields/columns.ts";
import { inTraces, LIVE } from "../query/index.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { SelectedTrace, SelectedTraces, Selection } from "./selection.ts";

const TRACES_PER_QUERY = 2000;

/**
 * Finds the traces of the selected calls. A condition on narrow columns is counted per trace here, and evaluated again
 * when the calls are read. For a payload condition, or one that matches more than `limit` calls, it returns the ids.
 */
export async function selectTraces(
  engine: Engine,
  selection: Selection,
  signal: AbortSignal,
): Promise<SelectedTraces> {
  if (!selection.evaluateOnce) {
    const counted = await countPerTrace(engine, selection, signal);
    const selected = counted.reduce((sum, trace) => sum + trace.selectedCount, 0);
    if (selected <= selection.limit) {
      return { truncated: false, traces: counted.map((trace) => ({ ...trace, ids: undefined })) };
    }
  }
  const keys = await oldestKeys(engine, selection, signal);
  const truncated = keys.length > selection.limit;
  const ids = Map.groupBy(keys.slice(0, selection.limit), (key) => key.traceId);
  const sizes = await traceSizes(engine, selection.project, [...ids.keys()], signal);
  return {
    truncated,
    traces: [...ids].map(([traceId, calls]): SelectedTrace => ({
      traceId,
      callCount: sizes.get(traceId) ?? calls.length,
      ids: new Set(calls.map((call) => call.id)),
    })),
  };
}

export interface CountedTrace {
  readonly traceId: string;
  readonly selectedCount: number;
  readonly callCount: number;
}

/** The traces of the selected calls, oldest first, with the number of their calls. */
export async function countPerTrace(
  engine: Engine,
  selection: Selection,
  signal: AbortSignal,
): Promise<CountedTrace[]> {
  const bytes = await engine.bytes(
    sql`SELECT trace_id, toInt64(countIf(${selection.condition})) AS selected, toInt64(count())
        FROM calls FINAL PREWHERE project_id = ${param("String", selection.project)} AND ${wholeTraces(selection)}
        WHERE ${LIVE} GROUP BY trace_id HAVING selected > 0 ORDER BY min(hour), trace_id`,
    "RowBinary",
    { name: "usage_count", limits: "heavy", signal },
  );
  const reader = new RowBinaryReader(bytes);
  const traces: CountedTrace[] = [];
  while (!reader.done) {
    traces.push({ traceId: reader.string(), selectedCount: reader.int64(), callCount: reader.int64() });
  }
  return traces;
}

/** All calls of the selected calls' traces, or of the whole project if it has to be read anyway. */
function wholeTraces({ project, reach, condition }: Selection): Sql {
  if (!reach.isBounded) return sql`1`;
  const traces = sql`(SELECT trace_id FROM calls FINAL
    PREWHERE project_id = ${param("String", project)} AND ${reach.calls} WHERE ${LIVE} AND ${condition})`;
  return inTraces(project, reach.traces ?? traces);
}

interface CallKey {
  readonly traceId: string;
  readonly id: string;
}

/** At most one more than the limit, so that the caller sees whether there are more. */
async function oldestKeys(engine: Engine, selection: Selection, signal: AbortSignal): Promise<CallKey[]> {
  const bytes = await engine.bytes(
    sql`SELECT trace_id, id FROM calls FINAL
        PREWHERE project_id = ${param("String", selection.project)} AND ${selection.reach.calls}
        WHERE ${LIVE} AND ${selection.condition}
        ORDER BY started_at, id LIMIT ${param("UInt32", selection.limit + 1)}`,
    "RowBinary",
    { name: "usage_select", limits: "heavy", signal },
  );
  const reader = new RowBinaryReader(bytes);
  const keys: CallKey[] = [];
  while (!reader.done) keys.push({ traceId: reader.string(), id: reader.string() });
  return keys;
}

async function traceSizes(
  engine: Engine,
  project: Project,
  traceIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  for (const chunk of chunksOf(traceIds, TRACES_PER_QUERY)) {
    const rows = await engine.rows<{ trace_id: string; calls: number }>(
      sql`SELECT trace_id, count() AS calls FROM calls FINAL
          PREWHERE project_id = ${param("String", project)} AND ${inTraces(project, idList(chunk))}
          WHERE ${LIVE} GROUP BY trace_id`,
      { name: "usage_sizes", limits: "heavy", signal },
    );
    for (const row of rows) sizes.set(row.trace_id, row.calls);
  }
  return sizes;
}

/** The calls and columns to read: the calls of `within`, at most `limit` of them. */
export interface RowsToRead {
  readonly project: Project;
  /** Which calls are selected. */
  readonly condition: Sql;
  readonly limit: number;
  /** Columns after those that the fold needs. */
  readonly more?: Sql | undefined;
}

/** The narrow columns of all calls of some traces, for `readCallTable`. For a single trace, without the trace's id. */
export function callRowBytes(
  engine: Engine,
  read: RowsToRead & { readonly traceIds: readonly string[] },
  signal: AbortSignal,
): Promise<Buffer> {
  const traceId = read.traceIds.length === 1 ? sql`` : sql`trace_id,`;
  return rowBytes(
    engine,
    { ...read, traceId, within: inTraces(read.project, idList(read.traceIds)) },
    signal,
  );
}

/** The same for the traces of selected calls, which are not known yet, with the traces' ids. */
export function selectedRowBytes(
  engine: Engine,
  selection: Selection,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
): Promise<Buffer> {
  const { project, condition } = selection;
  const read = { project, condition, limit, traceId: sql`trace_id,`, within: wholeTraces(selection) };
  return rowBytes(engine, read, signal);
}

function rowBytes(
  engine: Engine,
  read: RowsToRead & { readonly traceId: Sql; readonly within: Sql },
  signal: AbortSignal,
): Promise<Buffer> {
  return engine.bytes(
    sql`SELECT ${read.traceId} id, parent_id, ${REPORTED},
          toUInt8(${HAS_ENDED} + 2 * ifNull(${read.condition}, 0) + 4 * ifNull(inclusive, 0) + 16 * ifNull(reported_by, 0)),
          assumeNotNull(started_at), usage${read.more ?? sql``}
        FROM calls FINAL PREWHERE project_id = ${param("String", read.project)} AND ${read.within}
        WHERE ${LIVE} LIMIT ${param("UInt32", read.limit)}`,
    "Native",
    { name: "usage_read", limits: "heavy", signal },
  );
}

/** A completion's id after the call's end, which distinguishes completions with the same id. Empty without an id. */
const REPORTED = sql`if(ifNull(completion_id, '') = '', '',
  concat(leftPad(toString(if(${HAS_ENDED}, toUnixTimestamp64Micro(assumeNotNull(ended_at)), 0)), 17, '0'), assumeNotNull(completion_id)))`;

function idList(ids: readonly string[]): Sql {
  return sql`${param("Array(String)", ids)}`;
}
