import type { Engine } from "../../store/engine.ts";
import { keyRangeOf, IS_VISIBLE, tracesWithoutRoot, whereSelected } from "../../query/index.ts";
import type { CallsSelection } from "../../query/key-range.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { sql, type Sql } from "../../query/sql.ts";

/**
 * SQL: counts traces without a root that have a call matching `condition`, evaluated only for the few such traces.
 */
export function withoutRootStatement(selection: CallsSelection, condition: Sql): Sql {
  const { project } = selection;
  return sql`SELECT uniqExact(trace_id) AS traces FROM calls FINAL
    PREWHERE ${ofProject(project)} AND ${whereSelected(selection)}
      AND trace_id IN ${tracesWithoutRoot(project, keyRangeOf(selection))}
    WHERE ${IS_VISIBLE} AND ${condition}`;
}

/** Runs `withoutRootStatement`. */
export async function countWithoutRoot(engine: Engine, statement: Sql, signal: AbortSignal): Promise<number> {
  const [row] = await engine.rows<{ traces: number }>(statement, {
    name: "usage_without_root",
    limits: "heavy",
    signal,
  });
  return row?.traces ?? 0;
}
