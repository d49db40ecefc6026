import type { Engine } from "../store/engine.ts";
import { columns, computedColumns } from "../query/fields/columns.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import { IS_ROOT, IS_VISIBLE } from "../query/index.ts";
import type { Project } from "../shared/project.ts";
import { flag, integer, moreColumns, text, unsigned } from "../trace-usage/table/more-columns.ts";
import { foldColumns } from "../trace-usage/table/read-call-table.ts";
import { HAS_FAILED, LATENCY } from "./usage-record.ts";

const textOf = (value: Sql) => text(sql`CAST(${value}, 'String')`);
const field = (name: string) => textOf(columns.get(name)!.sql);

/** Columns of a record beside those of the fold. */
export const recordColumns = moreColumns(() => ({
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
export type RecordColumns = ReturnType<typeof recordColumns.open>["more"];

/**
 * Reads the calls of traces as Native blocks. Deleted calls are included as empty, unselected rows, because each row carries
 * the fingerprint of all rows.
 */
export function readRecordBytes(
  engine: Engine,
  { project, within }: { readonly project: Project; readonly within: Sql },
  signal: AbortSignal,
): Promise<Buffer> {
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
