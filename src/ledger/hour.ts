import type { Engine } from "../clickhouse/engine.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";

/** An hour of a project, in hours since the epoch. */
export interface Hour {
  readonly project: Project;
  readonly hour: number;
}

/** Traces that lie under an hour and under others too. They are not in the ledger. */
export interface SpanningTraces {
  readonly traceIds: readonly string[];
  /** The sum of the hashes of their ids, modulo 2^64. */
  readonly digest: string;
}

interface Options {
  readonly name: string;
  readonly signal?: AbortSignal;
}

/** The fingerprint of every hour that has rows: what `calls` holds now. `window`: a condition on `hour`. */
export async function readFingerprints(
  engine: Engine,
  project: Project,
  window: Sql,
  options: Options,
): Promise<ReadonlyMap<number, string>> {
  const rows = await engine.rows<{ hour: number; found: string }>(
    sql`SELECT hour, toString(sum(fingerprint)) AS found FROM calls
        PREWHERE project_id = ${param("String", project)} AND ${window} GROUP BY hour`,
    { ...options, limits: "heavy" },
  );
  return new Map(rows.map((row) => [row.hour, row.found]));
}

/**
 * The digest of the spanning traces of each hour, where there are any. Never of a replica that may lack some. `window`: a
 * condition on `hour`.
 */
export async function readSpanning(
  engine: Engine,
  project: Project,
  window: Sql,
  options: Options,
): Promise<ReadonlyMap<number, string>> {
  const rows = await engine.rows<{ hour: number; digest: string }>(
    sql`SELECT hour, toString(sum(cityHash64(trace_id))) AS digest FROM
          (SELECT DISTINCT hour, trace_id FROM spanning_traces WHERE project_id = ${param("String", project)} AND ${window})
        GROUP BY hour`,
    { ...options, limits: "heavy", mustBeCurrent: true },
  );
  return new Map(rows.map((row) => [row.hour, row.digest]));
}

export const NO_SPANNING = "0";

/** The spanning traces of one hour themselves. */
export async function readSpanningTraces(
  engine: Engine,
  { project, hour }: Hour,
  signal: AbortSignal,
): Promise<SpanningTraces> {
  const [row] = await engine.rows<SpanningTraces>(
    sql`SELECT groupUniqArray(trace_id) AS traceIds, toString(arraySum(id -> cityHash64(id), traceIds)) AS digest
        FROM spanning_traces WHERE project_id = ${param("String", project)} AND hour = ${param("Int64", hour)}`,
    { name: "ledger_spanning_traces", limits: "maintenance", mustBeCurrent: true, signal },
  );
  return row!;
}
