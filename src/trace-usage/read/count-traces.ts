import type { Engine } from "../../store/engine.ts";
import { RowBinaryReader } from "../../store/rows/row-binary.ts";
import { inTraces, IS_VISIBLE } from "../../query/index.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { sql, type Sql } from "../../query/sql.ts";
import { chunksOf } from "../../shared/chunks-of.ts";
import type { Project } from "../../shared/project.ts";
import type { SelectedTrace, Selection } from "../selection.ts";

type Extent = Pick<SelectedTrace, "callCount" | "hours">;

export interface CountedTrace extends SelectedTrace {
  readonly selectedCount: number;
}

/**
 * Counts the calls of the selected calls' traces; oldest first, so that traces read together are stored together. `where`:
 * SQL condition of all calls of the candidate traces.
 */
export async function countTraces(
  engine: Engine,
  { project, condition }: Selection,
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

/** Calls are counted by hour first: a set of hours that grows with every call costs half as much again. */
const CALLS = sql`toInt64(count()) AS calls`;
const EXTENT = sql`sum(calls), groupArray(hour)`;

function readExtent(reader: RowBinaryReader): Extent {
  return { callCount: reader.int64(), hours: reader.int32s() };
}

const TRACES_PER_QUERY = 2000;

/** Reads the extents of traces, without those deleted since. */
export async function readExtents(
  engine: Engine,
  project: Project,
  traceIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Extent>> {
  const extents = new Map<string, Extent>();
  for (const chunk of chunksOf(traceIds, TRACES_PER_QUERY)) {
    const bytes = await engine.bytes(
      sql`SELECT trace_id, ${EXTENT}
          FROM (SELECT hour, trace_id, ${CALLS} FROM calls FINAL
                PREWHERE ${ofProject(project)} AND ${inTraces(project, chunk)}
                WHERE ${IS_VISIBLE} GROUP BY hour, trace_id)
          GROUP BY trace_id`,
      "RowBinary",
      { name: "usage_sizes", limits: "heavy", signal },
    );
    const reader = new RowBinaryReader(bytes);
    while (!reader.done) extents.set(reader.string(), readExtent(reader));
  }
  return extents;
}
