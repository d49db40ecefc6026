import { join, param, sql, trusted, type Sql } from "../../query/sql.ts";
import type { Engine } from "../engine.ts";
import { MigrationError } from "../migration-error.ts";
import { isSameChecksum, rowChecksum, sumOfChecksums, type RowChecksum } from "../rows/row-checksum.ts";

const CALLS_PER_SLICE = 200_000;
const CHECK = { name: "carry_check", mustBeCurrent: true, tables: "own" } as const;

export interface CarryOptions {
  /** Hears how many calls have been carried over. */
  readonly report?: (calls: number) => void;
  /** About so many; a trace is never divided. */
  readonly callsPerSlice?: number;
}

/** A range of the old table, by its key: after one trace, up to another. */
interface Slice {
  readonly place: number;
  readonly after: Trace | undefined;
  /** Undefined: to the end. */
  readonly last: Trace | undefined;
}

interface Trace {
  readonly project: string;
  readonly trace: string;
}

/**
 * Copies the calls from the table in the order of traces to the one in the order of time, slice by slice. A slice that
 * was cut off is copied again: what is there twice folds into one. At last both tables are compared, every column of
 * every call. Nothing else may write to either. Errors: `MigrationError` when they differ; the old one is kept.
 */
export async function carryCallsOver(engine: Engine, options: CarryOptions = {}): Promise<void> {
  const { report = () => undefined, callsPerSlice = CALLS_PER_SLICE } = options;
  const columns = await columnNames(engine);
  const next = (): Promise<Slice | undefined> => nextSlice(engine, done, callsPerSlice);
  let done = await slicesDone(engine);
  for (let slice = await next(); slice !== undefined; slice = await next()) {
    await copy(engine, columns, slice);
    const from = sql`calls_by_trace FINAL PREWHERE ${within(slice)}`;
    const { rows: calls, sum } = await rowChecksum(engine, [HOUR_OF_CALL, ...columns], from, CHECK);
    const last = slice.last ?? { project: "", trace: "" };
    await engine.insert(
      "calls_carried_over",
      [
        {
          place: slice.place,
          last_project: last.project,
          last_trace: last.trace,
          calls,
          checksum: String(sum),
        },
      ],
      { name: "carry_note", tables: "own" },
    );
    done = await slicesDone(engine);
    report(done.reduce((all, one) => all + one.calls, 0));
  }
  await compare(engine, columns, done, callsPerSlice);
}

interface SliceRow {
  readonly place: number;
  readonly last_project: string;
  readonly last_trace: string;
  readonly calls: number;
  readonly checksum: string;
}

async function slicesDone(engine: Engine): Promise<readonly SliceRow[]> {
  return engine.rows<SliceRow>(
    sql`SELECT place, last_project, last_trace, calls, toString(checksum) AS checksum
        FROM calls_carried_over FINAL ORDER BY place`,
    { name: "carry_done", limits: "maintenance", mustBeCurrent: true, tables: "own" },
  );
}

async function nextSlice(
  engine: Engine,
  done: readonly SliceRow[],
  callsPerSlice: number,
): Promise<Slice | undefined> {
  const before = done.at(-1);
  if (before !== undefined && before.last_project === "") return undefined;
  const after = before && { project: before.last_project, trace: before.last_trace };
  const [row] = await engine.rows<{ project: string; trace: string }>(
    sql`SELECT toString(project_id) AS project, trace_id AS trace FROM calls_by_trace WHERE ${isAfter(after)}
        ORDER BY project_id, trace_id LIMIT 1 OFFSET ${param("UInt32", callsPerSlice)}`,
    { name: "carry_slice", limits: "maintenance", mustBeCurrent: true, tables: "own" },
  );
  return { place: done.length, after, last: row };
}

function within({ after, last }: Slice): Sql {
  return last === undefined ? isAfter(after) : sql`(${isAfter(after)} AND NOT ${isAfter(last)})`;
}

function isAfter(trace: Trace | undefined): Sql {
  if (trace === undefined) return sql`1`;
  const project = param("String", trace.project);
  return sql`(project_id > ${project} OR (project_id = ${project} AND trace_id > ${param("String", trace.trace)}))`;
}

async function columnNames(engine: Engine): Promise<readonly Sql[]> {
  const rows = await engine.rows<{ name: string }>(
    sql`SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'calls_in_time'
          AND name != 'hour' ORDER BY position`,
    { name: "carry_columns", mustBeCurrent: true, tables: "own" },
  );
  return rows.map((row) => trusted(`\`${row.name}\``));
}

const hourOf = (instant: Sql): Sql =>
  sql`toInt32(intDiv(toUnixTimestamp64Micro(${instant}) - positiveModulo(toUnixTimestamp64Micro(${instant}), 3600000000), 3600000000))`;
/** A part whose call never started is stored under the hour that the part states. */
const HOUR_OF_CALL = hourOf(
  sql`assumeNotNull(coalesce(started_at, ended_at, deleted_at, fromUnixTimestamp64Micro(toInt64(0), 'UTC')))`,
);

/** What finds calls first, then the calls. */
async function copy(engine: Engine, columns: readonly Sql[], slice: Slice): Promise<void> {
  const run = (statement: Sql): Promise<void> =>
    engine.command(sql`${statement} SETTINGS max_insert_threads = 1, max_partitions_per_insert_block = 0`, {
      name: "carry_copy",
      tables: "own",
      limits: "maintenance",
    });
  const from = sql`FROM calls_by_trace FINAL PREWHERE ${within(slice)}`;
  await run(sql`INSERT INTO call_traces_in_time (project_id, id, trace_id, hour)
    SELECT project_id, id, trace_id, ${HOUR_OF_CALL} ${from} WHERE started_at IS NOT NULL`);
  await run(sql`INSERT INTO trace_hours (project_id, trace_id, hour)
    SELECT DISTINCT project_id, trace_id, ${HOUR_OF_CALL} ${from}`);
  for (const [kind, instant] of [
    ["started", sql`assumeNotNull(started_at)`],
    ["ended", sql`assumeNotNull(ended_at)`],
  ] as const) {
    await run(sql`INSERT INTO call_hours (project_id, kind, at_hour, hour)
      SELECT DISTINCT project_id, ${param("String", kind)}, ${hourOf(instant)}, ${HOUR_OF_CALL} ${from}
      WHERE ${trusted(kind)}_at IS NOT NULL`);
  }
  await run(sql`INSERT INTO calls_in_time (hour, ${join(columns, ", ")})
    SELECT ${HOUR_OF_CALL}, ${join(columns, ", ")} ${from}`);
}

async function compare(
  engine: Engine,
  columns: readonly Sql[],
  done: readonly SliceRow[],
  callsPerCheck: number,
): Promise<void> {
  const checked: RowChecksum[] = [];
  for (const { from, to } of await rangesOf(engine, callsPerCheck)) {
    const between = sql`hour BETWEEN ${param("Int64", from)} AND ${param("Int64", to)}`;
    const rows = sql`calls_in_time FINAL PREWHERE ${between}`;
    checked.push(await rowChecksum(engine, [sql`hour`, ...columns], rows, CHECK));
  }
  const found = sumOfChecksums(checked);
  const expected = sumOfChecksums(
    done.map(({ calls, checksum }) => ({ rows: calls, sum: BigInt(checksum) })),
  );
  if (!isSameChecksum(found, expected)) {
    throw new MigrationError(
      `The calls carried over are not those of before (${found.rows} of ${expected.rows}). Nothing was deleted: they are in calls_by_trace.`,
    );
  }
}

/** Ranges of hours with about so many rows each. */
async function rangesOf(engine: Engine, rowsEach: number): Promise<{ from: number; to: number }[]> {
  const hours = await engine.rows<{ hour: number; n: number }>(
    sql`SELECT hour, count() AS n FROM calls_in_time GROUP BY hour ORDER BY hour`,
    { name: "carry_hours", limits: "maintenance", mustBeCurrent: true, tables: "own" },
  );
  const ranges: { from: number; to: number }[] = [];
  let room = 0;
  for (const { hour, n } of hours) {
    if (room <= 0) {
      ranges.push({ from: hour, to: hour });
      room = rowsEach;
    }
    ranges.at(-1)!.to = hour;
    room -= n;
  }
  return ranges;
}
