import { columns } from "../../query/fields/columns.ts";
import { sql, trusted } from "../../query/sql.ts";
import { toIso } from "../../shared/instant.ts";
import type { RowBinaryReader } from "../../store/rows/row-binary.ts";

/** Root of a trace: its earliest call without a parent. */
export interface TraceRoot {
  readonly id: string;
  readonly hour: number;
  readonly op_name: string | null;
  readonly display_name: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly svc_user_id: string | null;
  readonly thread_id: string | null;
  readonly exception: string | null;
}

const MAX_EXCEPTION = trusted("1000");
const text = (name: string) => columns.get(name)!.sql;

/** Columns that `readRoot` reads. */
export const ROOT_COLUMNS = sql`id, toInt64(hour), ${text("op_name")}, ${text("display_name")},
  toString(assumeNotNull(started_at)), ifNull(toString(${text("ended_at")}), ''), ${text("svc_user_id")}, ${text("thread_id")},
  leftUTF8(${text("exception")}, ${MAX_EXCEPTION})`;

/** Reads `ROOT_COLUMNS`. */
export function readRoot(reader: RowBinaryReader): TraceRoot {
  const text = (): string | null => reader.string() || null;
  const instant = (): string | null => {
    const stored = text();
    return stored === null ? null : toIso(stored);
  };
  return {
    id: reader.string(),
    hour: reader.int64(),
    op_name: text(),
    display_name: text(),
    started_at: toIso(reader.string()),
    ended_at: instant(),
    svc_user_id: text(),
    thread_id: text(),
    exception: text(),
  };
}
