import type { Engine } from "../../store/engine.ts";
import { IS_VISIBLE } from "../../query/index.ts";
import { ofProject } from "../../query/hour-buckets.ts";
import { param, sql, type Sql } from "../../query/sql.ts";
import type { Selection } from "../selection.ts";
import { foldColumns } from "../table/read-call-table.ts";

export interface RowsToRead extends Selection {
  /** SQL condition of the calls to read; the selection's condition becomes a column. */
  readonly where: Sql;
  /** Maximum rows. */
  readonly limit: number;
  /** True to include trace ids, for several traces. */
  readonly ofTraces: boolean;
  /** SQL of extra columns, each preceded by a comma. */
  readonly more?: Sql | undefined;
}

/** Reads the narrow columns of calls, for `callTableSteps`. */
export function rowBytes(engine: Engine, read: RowsToRead, signal: AbortSignal): Promise<Buffer> {
  return engine.bytes(
    sql`SELECT ${foldColumns({ ...read, selected: read.condition })}${read.more ?? sql``}
        FROM calls FINAL PREWHERE ${ofProject(read.project)} AND ${read.where}
        WHERE ${IS_VISIBLE} LIMIT ${param("UInt32", read.limit)}`,
    "Native",
    { name: "usage_read", limits: "heavy", signal },
  );
}
