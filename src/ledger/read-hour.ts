import type { Engine } from "../store/engine.ts";
import type { NativeReader } from "../store/rows/native-reader.ts";
import { columns, computedColumns } from "../query/fields/columns.ts";
import { join, param, sql, trusted, type Sql } from "../query/sql.ts";
import { LIVE } from "../query/index.ts";
import type { Project } from "../shared/project.ts";
import { CALL_FIELDS, NO_LATENCY, type CallField } from "./entries.ts";

export interface CallsToRead {
  readonly project: Project;
  /** A condition on the key of `calls`. */
  readonly within: Sql;
  /** Traces that are left out. */
  readonly except: readonly string[];
}

/** An hour, or a piece of it: some of its traces. */
export function pieceOfHour(hour: number, piece: number, pieces: number): Sql {
  const ofHour = sql`hour = ${param("Int64", hour)}`;
  if (pieces === 1) return ofHour;
  return sql`${ofHour} AND cityHash64(trace_id) % ${param("UInt32", pieces)} = ${param("UInt32", piece)}`;
}

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
 * Some calls: the columns of `callRowBytes` with the traces' ids, those that count as selected, then the columns of `HourColumns`. Every row has the fingerprint
 * of all of them, of the same moment; the first row is there in any case, also if its call does not count.
 */
export function callBytes(
  engine: Engine,
  { project, within, except }: CallsToRead,
  signal: AbortSignal,
): Promise<Buffer> {
  const fields = CALL_FIELDS.map((field) => sql`CAST(${fieldText[field]}, 'String') AS of_${trusted(field)}`);
  const text = (column: Sql): Sql => sql`if(counts, ${column}, '')`;
  const nullable = (column: Sql): Sql => sql`if(counts, ${column}, NULL)`;
  return engine.bytes(
    sql`SELECT ${text(sql`trace_id`)}, ${text(sql`id`)}, ${nullable(sql`parent_id`)},
          ${nullable(sql`completion_id`)}, ${nullable(sql`ended_at`)}, ${nullable(sql`inclusive`)}, ${nullable(sql`reported_by`)}, toUInt8(counts),
          ifNull(started_at, fromUnixTimestamp64Micro(0, 'UTC')), ${nullable(sql`usage`)},
          is_error, is_root, latency, toInt64(hour), ${join(
            CALL_FIELDS.map((field) => sql`of_${trusted(field)}`),
            ", ",
          )}, fingerprints
        FROM (
          SELECT hour, trace_id, id, parent_id, started_at, usage, completion_id, ended_at, inclusive, reported_by,
            ifNull(${LIVE} AND trace_id NOT IN ${param("Array(String)", except)}, 0) AS counts,
            toUInt8(ifNull(exception, '') != '') AS is_error, toUInt8(ifNull(parent_id, '') = '') AS is_root,
            toInt64(ifNull(${latency}, ${trusted(String(NO_LATENCY))})) AS latency,
            ${join(fields, ", ")}, sum(fingerprint) OVER () AS fingerprints, row_number() OVER () AS place
          FROM calls FINAL PREWHERE project_id = ${param("String", project)} AND ${within}
        )
        WHERE counts OR place = 1`,
    "Native",
    { name: "ledger_read", limits: "maintenance", signal },
  );
}

/** What is read of every call beside what the fold needs. */
export class HourColumns {
  readonly errors: number[] = [];
  readonly roots: number[] = [];
  readonly latencies: number[] = [];
  readonly hours: number[] = [];
  readonly fields: Record<CallField, string[]>;
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
      const places = { starts: new Uint32Array(count), ends: new Uint32Array(count) };
      reader.strings(places, 0);
      for (let row = 0; row < count; row++)
        this.fields[field].push(this.source.toString("utf8", places.starts[row], places.ends[row]));
    }
    this.fingerprint = reader.firstUint64();
  };
}
