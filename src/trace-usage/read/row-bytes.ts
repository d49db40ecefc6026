import type { Engine } from "../../store/engine.ts";
import { LIVE } from "../../query/index.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { param, sql, type Sql } from "../../query/sql.ts";
import type { Selection } from "../selection.ts";

export interface RowsToRead extends Selection {
  /** The calls to read; the selection's condition says which of them are selected. */
  readonly where: Sql;
  /** The most rows. */
  readonly limit: number;
  /** Whether the rows are of several traces: then they have the traces' ids. */
  readonly ofTraces: boolean;
  /** Columns after those that the fold needs, each after a comma. */
  readonly more?: Sql | undefined;
}

/** The narrow columns of some calls, for `readCallTable`. */
export function rowBytes(engine: Engine, read: RowsToRead, signal: AbortSignal): Promise<Buffer> {
  return engine.bytes(
    sql`SELECT ${read.ofTraces ? sql`trace_id,` : sql``} id, parent_id, completion_id, ended_at, inclusive, usage_source,
          CAST(ifNull(${read.condition}, 0), 'UInt8'), assumeNotNull(started_at), usage${read.more ?? sql``}
        FROM calls FINAL PREWHERE ${ofProject(read.project)} AND ${read.where}
        WHERE ${LIVE} LIMIT ${param("UInt32", read.limit)}`,
    "Native",
    { name: "usage_read", limits: "heavy", signal },
  );
}
