import type { Engine } from "../store/engine.ts";
import type { HourRange } from "../query/index.ts";
import { keyHours, ofProject } from "../query/key-hours.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";

/** An hour of a project, in hours since the epoch. */
export interface Hour {
  readonly project: Project;
  readonly hour: number;
}

/** An hour as one text. */
export function hourKey({ project, hour }: Hour): string {
  return `${hour} ${project}`;
}

/** Traces that lie under an hour and under others too. They are settled beside it, by all their hours. */
export interface SpanningOfHour {
  readonly traceIds: readonly string[];
  /** The sum of the hashes of their ids, modulo 2^64. */
  readonly digest: string;
}

interface Options {
  readonly name: string;
  readonly signal?: AbortSignal;
}

/** The fingerprint of an hour without rows. */
export const NO_ROWS = "0";

/** A condition: one of some hours. */
export function oneOf(hours: readonly number[]): Sql {
  return sql`hour IN ${param("Array(Int64)", hours)}`;
}

/** A condition: one of a range of hours. */
export function within({ from, to }: HourRange): Sql {
  return sql`hour BETWEEN ${param("Int64", from)} AND ${param("Int64", to)}`;
}

/**
 * The fingerprint of every hour that has rows: what `calls` holds now. `window`: a condition on `hour`. It is read of the
 * projection `hours`, unless a deletion waits; then of the rows, which lie in the order of hours.
 */
export async function readFingerprints(
  engine: Pick<Engine, "rows">,
  project: Project,
  window: Sql,
  options: Options,
): Promise<ReadonlyMap<number, string>> {
  const rows = await engine.rows<{ hour: number; found: string }>(
    sql`SELECT hour, toString(sum(fingerprint)) AS found FROM calls
        PREWHERE project_id = ${param("String", project)} AND ${window} GROUP BY hour
        SETTINGS optimize_aggregation_in_order = 1`,
    { ...options, limits: "heavy" },
  );
  return new Map(rows.map((row) => [row.hour, row.found]));
}

/** The hours under which those calls lie that started in some hours. Never of a replica that may lack some. */
export async function readKeyHours(
  engine: Engine,
  project: Project,
  started: HourRange,
  options: Options,
): Promise<readonly number[]> {
  const rows = await engine.rows<{ hour: number }>(
    keyHours(ofProject(project), { kind: "started", range: started }),
    { ...options, limits: "heavy", mustBeCurrent: true },
  );
  return rows.map(({ hour }) => hour).toSorted((a, b) => a - b);
}

/** The spanning traces of one hour themselves. */
export async function readSpanningTraces(
  engine: Engine,
  { project, hour }: Hour,
  signal: AbortSignal,
): Promise<SpanningOfHour> {
  const [row] = await engine.rows<SpanningOfHour>(
    sql`SELECT groupUniqArray(trace_id) AS traceIds, toString(arraySum(id -> cityHash64(id), traceIds)) AS digest
        FROM spanning_traces WHERE project_id = ${param("String", project)} AND hour = ${param("Int64", hour)}`,
    { name: "ledger_spanning_traces", limits: "maintenance", mustBeCurrent: true, signal },
  );
  return row!;
}
