import type { Engine } from "../store/engine.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { HourSpan } from "./hour-span.ts";

/** What the fold that makes records is called. What another one made is not used: raise it when an entry means something else. */
export const RECORD_VERSION = 3;

/** What the ledger has of a part of a group under an hour. It is true of the rows and traces that it names alone. */
export interface RollupManifest extends HourSpan {
  readonly hour: number;
  readonly slice: number;
  /** So many make the group. */
  readonly slices: number;
  readonly batch: string;
  /** Of the hours of the group, see `Fingerprints`. */
  readonly fingerprint: string;
  /** See `SpanningUnderHour`: of the group's traces under this hour, or, of an hour's own, of all that are left out. */
  readonly traceSetHash: string;
  readonly records: number;
  /** When its first and last call started, in microseconds since the epoch; 0 without calls. */
  readonly first_started_at_us: number;
  readonly last_started_at_us: number;
  /** See `readServed`. */
  readonly llms: readonly string[];
}

/** `hours`: a condition on `hour`. */
export function readManifests(
  engine: Engine,
  project: Project,
  hours: Sql,
  signal: AbortSignal,
): Promise<readonly RollupManifest[]> {
  return engine.rows<RollupManifest>(
    sql`SELECT hour, first_hour AS first, last_hour AS last, slice, toString(batch_id) AS batch,
          manifest.slices AS slices, toString(manifest.fingerprint) AS fingerprint, toString(manifest.trace_set_hash) AS traceSetHash, manifest.records AS records,
          manifest.first_started_at_us AS first_started_at_us, manifest.last_started_at_us AS last_started_at_us, manifest.llms AS llms
        FROM usage_rollup FINAL
        WHERE project_id = ${param("String", project)} AND is_record = 0 AND ${hours}
          AND manifest.version = ${param("UInt32", RECORD_VERSION)}`,
    { name: "usage_rollup_find", limits: "heavy", signal },
  );
}
