import type { Engine } from "../store/engine.ts";
import { rangesFor, type NativeReader } from "../store/rows/native-reader.ts";
import { columns, computedColumns } from "../query/fields/columns.ts";
import { join, param, sql, trusted, type Sql } from "../query/sql.ts";
import { IS_VISIBLE } from "../query/index.ts";
import type { Project } from "../shared/project.ts";
import { tableColumns } from "../trace-usage/table/read-call-table.ts";
import { CALL_FIELDS, NO_LATENCY, type CallField } from "./usage-record.ts";

const latency = computedColumns.get("latency_ms")!.sql;

const fieldText: Readonly<Record<CallField, Sql>> = {
  op_name: columns.get("op_name")!.sql,
  trace_id: columns.get("trace_id")!.sql,
  thread_id: columns.get("thread_id")!.sql,
  turn_id: columns.get("turn_id")!.sql,
  svc_user_id: columns.get("svc_user_id")!.sql,
  svc_run_id: columns.get("svc_run_id")!.sql,
  api_key: sql`ifNull(api_key, '')`,
  status: computedColumns.get("status")!.sql,
};

/**
 * Reads the calls of traces as Native blocks: the columns of a table, then those of `RecordColumns`.
 * Deleted calls are included as empty, unselected rows, because each row carries the fingerprint of all rows.
 */
export function readRecordBytes(
  engine: Engine,
  { project, within }: { readonly project: Project; readonly within: Sql },
  signal: AbortSignal,
): Promise<Buffer> {
  const fields = CALL_FIELDS.map((field) => sql`CAST(${fieldText[field]}, 'String')`);
  const live = sql`live`;
  return engine.bytes(
    sql`SELECT ${tableColumns(live, { withTraceIds: true, present: live })},
          toUInt8(ifNull(exception, '') != ''), toUInt8(ifNull(parent_id, '') = ''),
          toInt64(ifNull(${latency}, ${trusted(String(NO_LATENCY))})), toInt64(hour), ${join(fields, ", ")}, fingerprints
        FROM (
          SELECT *, ifNull(${IS_VISIBLE}, 0) AS live, sum(fingerprint) OVER () AS fingerprints
          FROM calls FINAL PREWHERE project_id = ${param("String", project)} AND ${within}
        )`,
    "Native",
    { name: "usage_rollup_read", limits: "maintenance", signal },
  );
}

/** Columns of each call beyond those of the fold. */
export class RecordColumns {
  readonly errors: number[] = [];
  readonly roots: number[] = [];
  readonly latencies: number[] = [];
  readonly hours: number[] = [];
  readonly fields: Record<CallField, string[]>;
  /** Sum of the fingerprints of all rows. */
  fingerprint = 0n;
  private readonly source: Buffer;

  constructor(source: Buffer) {
    this.source = source;
    this.fields = Object.fromEntries(CALL_FIELDS.map((field) => [field, [] as string[]])) as Record<
      CallField,
      string[]
    >;
  }

  readonly readBlock = (reader: NativeReader, _first: number, count: number): void => {
    for (const value of reader.uint8s()) this.errors.push(value);
    for (const value of reader.uint8s()) this.roots.push(value);
    const numbers = new Float64Array(count);
    reader.int64s(numbers, 0);
    for (const value of numbers) this.latencies.push(value);
    reader.int64s(numbers, 0);
    for (const value of numbers) this.hours.push(value);
    for (const field of CALL_FIELDS) {
      const texts = rangesFor(count);
      reader.strings(texts, 0);
      for (let row = 0; row < count; row++)
        this.fields[field].push(this.source.toString("utf8", texts.starts[row], texts.ends[row]));
    }
    this.fingerprint = reader.firstUint64();
  };
}
