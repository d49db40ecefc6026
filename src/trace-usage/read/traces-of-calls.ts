import type { Engine } from "../../store/engine.ts";
import { RowBinaryReader } from "../../store/rows/row-binary.ts";
import { inTraces } from "../../query/trace-hours.ts";
import { IS_VISIBLE } from "../../query/fields/columns.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { param, sql, type Sql } from "../../query/sql.ts";
import { chunksOf } from "../../shared/chunks-of.ts";
import type { Project } from "../../shared/project.ts";
import type { CallsPlan, SelectedTrace } from "../plan.ts";

type Extent = Pick<SelectedTrace, "callCount" | "hours">;

export interface CountedTrace extends SelectedTrace {
  readonly selectedCount: number;
}

/** Calls are counted by hour first: a set of hours that grows with every call costs half as much again. */
const CALLS = sql`toInt64(count()) AS calls`;
const EXTENT = sql`sum(calls), groupArray(hour)`;

function readExtent(reader: RowBinaryReader): Extent {
  return { callCount: reader.int64(), hours: reader.int32s() };
}

/**
 * Counts the calls of the selected calls' traces; oldest first, so that traces read together are stored together. `where`:
 * SQL condition of all calls of the candidate traces.
 */
export async function countTraces(
  engine: Engine,
  { project, condition }: Pick<CallsPlan, "project" | "condition">,
  where: Sql,
  signal: AbortSignal,
): Promise<CountedTrace[]> {
  const bytes = await engine.bytes(
    sql`SELECT trace_id, sum(matching) AS selected, ${EXTENT}
        FROM (SELECT hour, trace_id, toInt64(countIf(${condition})) AS matching, ${CALLS}
              FROM calls FINAL PREWHERE ${ofProject(project)} AND ${where}
              WHERE ${IS_VISIBLE} GROUP BY hour, trace_id)
        GROUP BY trace_id HAVING selected > 0 ORDER BY min(hour), trace_id`,
    "RowBinary",
    { name: "usage_count", limits: "heavy", signal },
  );
  const reader = new RowBinaryReader(bytes);
  const traces: CountedTrace[] = [];
  while (!reader.done) {
    const [traceId, selectedCount] = [reader.string(), reader.int64()];
    traces.push({ traceId, selectedCount, ids: undefined, ...readExtent(reader) });
  }
  return traces;
}

export interface ChosenCalls {
  /** Traces of the chosen calls, with the calls' ids. */
  readonly traces: readonly SelectedTrace[];
  /** True if more calls match than the limit. */
  readonly truncated: boolean;
}

/** Chooses the oldest selected calls. */
export async function chooseCalls(
  engine: Engine,
  { project, condition, whereSelected }: CallsPlan,
  limit: number,
  signal: AbortSignal,
): Promise<ChosenCalls> {
  const bytes = await engine.bytes(
    sql`SELECT trace_id, id FROM calls FINAL PREWHERE ${ofProject(project)} AND ${whereSelected}
        WHERE ${IS_VISIBLE} AND ${condition} ORDER BY started_at, id LIMIT ${param("UInt32", limit + 1)}`,
    "RowBinary",
    { name: "usage_select", limits: "heavy", signal },
  );
  const reader = new RowBinaryReader(bytes);
  const ids = new Map<string, Set<string>>();
  let count = 0;
  for (; !reader.done && count < limit; count++) {
    const [traceId, id] = [reader.string(), reader.string()];
    const ofTrace = ids.get(traceId);
    if (ofTrace === undefined) ids.set(traceId, new Set([id]));
    else ofTrace.add(id);
  }
  return { traces: await tracesOfCalls(engine, project, ids, signal), truncated: !reader.done };
}

/** Finds the traces of calls, without those deleted since. `ids`: of the calls, by trace. */
export async function tracesOfCalls(
  engine: Engine,
  project: Project,
  ids: ReadonlyMap<string, ReadonlySet<string>>,
  signal: AbortSignal,
): Promise<readonly SelectedTrace[]> {
  const extents = await readExtents(engine, project, [...ids.keys()], signal);
  return extents.map(([traceId, extent]) => ({ traceId, ...extent, ids: ids.get(traceId)! }));
}

const TRACES_PER_QUERY = 2000;

/** Reads the extents of traces, without those deleted since. */
async function readExtents(
  engine: Engine,
  project: Project,
  traceIds: readonly string[],
  signal: AbortSignal,
): Promise<readonly [traceId: string, Extent][]> {
  const extents: [string, Extent][] = [];
  for (const chunk of chunksOf(traceIds, TRACES_PER_QUERY)) {
    const bytes = await engine.bytes(
      sql`SELECT trace_id, ${EXTENT}
          FROM (SELECT hour, trace_id, ${CALLS} FROM calls FINAL
                PREWHERE ${ofProject(project)} AND ${inTraces(project, chunk)}
                WHERE ${IS_VISIBLE} GROUP BY hour, trace_id)
          GROUP BY trace_id ORDER BY min(hour), trace_id`,
      "RowBinary",
      { name: "usage_sizes", limits: "heavy", signal },
    );
    const reader = new RowBinaryReader(bytes);
    while (!reader.done) extents.push([reader.string(), readExtent(reader)]);
  }
  return extents;
}

/** Reads the hour buckets of traces, by trace. */
export async function readTraceHours(
  engine: Engine,
  project: Project,
  traceIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const rows = await engine.rows<{ trace_id: string; hours: readonly number[] }>(
    sql`SELECT trace_id, groupUniqArray(hour) AS hours FROM trace_hours
      WHERE ${ofProject(project)} AND trace_id IN ${param("Array(String)", traceIds)} GROUP BY trace_id`,
    { name: "trace_hours", dependsOn: ["trace_hours"], signal },
  );
  return new Map(rows.map(({ trace_id, hours }) => [trace_id, hours]));
}
