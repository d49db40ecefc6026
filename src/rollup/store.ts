import { chunksOf } from "../calls/write/trace-lookup.ts";
import type { Engine } from "../store/engine.ts";
import { RowBinaryReader } from "../store/rows/row-binary.ts";
import { aroundWindow, inPlaces, inTraces, LIVE } from "../query/index.ts";
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
  const extents = await extentsOf(engine, selection.project, [...ids.keys()], signal);
  return {
    truncated,
    traces: [...ids].flatMap(([traceId, calls]): SelectedTrace[] => {
      const extent = extents.get(traceId);
      // deleted since
      if (extent === undefined) return [];
      return [{ traceId, ...extent, ids: new Set(calls.map((call) => call.id)) }];
    }),
  };
}

type Extent = Pick<SelectedTrace, "callCount" | "hours">;

export interface CountedTrace extends Extent {
  readonly traceId: string;
  readonly selectedCount: number;
}

/**
 * The traces of the selected calls, oldest first, with the number of their calls. `within`: a condition on the key that is
 * true of all calls of the traces to look at.
 */
export async function countPerTrace(
  engine: Engine,
  selection: Selection,
  signal: AbortSignal,
  within: Sql = wholeTraces(selection),
): Promise<CountedTrace[]> {
  const bytes = await engine.bytes(
    sql`SELECT trace_id, toInt64(countIf(${selection.condition})) AS selected, ${EXTENT}
        FROM calls FINAL PREWHERE project_id = ${param("String", selection.project)} AND ${within}
        WHERE ${LIVE} GROUP BY trace_id HAVING selected > 0 ORDER BY min(hour), trace_id`,
    "RowBinary",
    { name: "usage_count", limits: "heavy", signal },
  );
  const reader = new RowBinaryReader(bytes);
  const traces: CountedTrace[] = [];
  while (!reader.done) {
    const [traceId, selectedCount] = [reader.string(), reader.int64()];
    traces.push({ traceId, selectedCount, ...readExtent(reader) });
  }
  return traces;
}

const EXTENT = sql`toInt64(count()), groupUniqArray(hour)`;

function readExtent(reader: RowBinaryReader): Extent {
  return { callCount: reader.int64(), hours: reader.int32s() };
}

/** All calls of the selected calls' traces, or of the whole project if it has to be read anyway. */
function wholeTraces(selection: Selection): Sql {
  const { project, reach } = selection;
  if (reach.traces !== undefined) return inTraces(project, reach.traces);
  if (reach.window === undefined) return sql`1`;
  return selectedTraces(selection, aroundWindow(project, reach.window));
}

/** `around`: true for all calls of these traces, and of others. */
function selectedTraces({ project, reach, condition }: Selection, around: Sql): Sql {
  return sql`trace_id IN (SELECT trace_id FROM calls FINAL
    PREWHERE project_id = ${param("String", project)} AND ${reach.calls} WHERE ${LIVE} AND ${condition}) AND ${around}`;
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

async function extentsOf(
  engine: Engine,
  project: Project,
  traceIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Extent>> {
  const extents = new Map<string, Extent>();
  for (const chunk of chunksOf(traceIds, TRACES_PER_QUERY)) {
    const bytes = await engine.bytes(
      sql`SELECT trace_id, ${EXTENT} FROM calls FINAL
          PREWHERE project_id = ${param("String", project)} AND ${inTraces(project, chunk)}
          WHERE ${LIVE} GROUP BY trace_id`,
      "RowBinary",
      { name: "usage_sizes", limits: "heavy", signal },
    );
    const reader = new RowBinaryReader(bytes);
    while (!reader.done) extents.set(reader.string(), readExtent(reader));
  }
  return extents;
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

/** The narrow columns of all calls of a trace, for `readCallTable`, without the trace's id. */
export function traceRowBytes(
  engine: Engine,
  read: RowsToRead & { readonly traceId: string },
  signal: AbortSignal,
): Promise<Buffer> {
  const within = inTraces(read.project, [read.traceId]);
  return rowBytes(engine, { ...read, traceId: sql``, within }, signal);
}

/** The same for traces that have been counted; with the traces' ids if there are several. */
export function callRowBytes(
  engine: Engine,
  read: RowsToRead & { readonly traces: readonly SelectedTrace[] },
  signal: AbortSignal,
): Promise<Buffer> {
  const traceId = read.traces.length === 1 ? sql`` : sql`trace_id,`;
  const places = read.traces.flatMap(({ hours, traceId: trace }) =>
    hours.map((hour) => ({ hour, traceId: trace })),
  );
  return rowBytes(engine, { ...read, traceId, within: inPlaces(places) }, signal);
}

/**
 * The same for the traces of selected calls, which are not known yet, with the traces' ids. If most traces of a window are
 * selected, it reads the others too, because finding out which ones are selected costs more.
 */
export async function selectedRowBytes(
  engine: Engine,
  selection: Selection,
  limit: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const { project, condition, reach } = selection;
  const read = (within: Sql): Promise<Buffer> =>
    rowBytes(engine, { project, condition, limit, traceId: sql`trace_id,`, within }, signal);
  return read(
    reach.isWholeWindow && reach.window !== undefined
      ? aroundWindow(project, reach.window)
      : wholeTraces(selection),
  );
}

function rowBytes(
  engine: Engine,
  read: RowsToRead & { readonly traceId: Sql; readonly within: Sql },
  signal: AbortSignal,
): Promise<Buffer> {
  return engine.bytes(
    sql`SELECT ${read.traceId} id, parent_id, completion_id, ended_at, inclusive, reported_by,
          CAST(ifNull(${read.condition}, 0), 'UInt8'), assumeNotNull(started_at), usage${read.more ?? sql``}
        FROM calls FINAL PREWHERE project_id = ${param("String", read.project)} AND ${read.within}
        WHERE ${LIVE} LIMIT ${param("UInt32", read.limit)}`,
    "Native",
    { name: "usage_read", limits: "heavy", signal },
  );
}
