import { param, sql, type Sql } from "../query/sql.ts";
import { IS_MANIFEST, IS_RECORD, RECORD_VERSION } from "./rows.ts";
import type { Project } from "../shared/project.ts";
import { hourIn, type HourSpan, type Reading } from "./hours.ts";

/** Manifest of one slice of a span under an hour; valid for exactly the rows and traces it was computed from. */
export interface RollupManifest extends HourSpan {
  readonly hour: number;
  readonly slice: number;
  /** Slices of the span. */
  readonly slices: number;
  readonly batch: string;
  /** `Fingerprints.of` the span. */
  readonly fingerprint: string;
  /** Trace-set hash of the span's traces under this hour; for a single hour, of the multi-hour traces it excludes. */
  readonly traceSetHash: string;
  readonly records: number;
  /** Start of the first and last call, in microseconds since the epoch; 0 without calls. */
  readonly first_started_at_us: number;
  readonly last_started_at_us: number;
  /** Encoded for `parseServedModels`. */
  readonly llms: readonly string[];
}

/** A statement that sums another number of records read hours that were materialized meanwhile. */
export function recordCount(manifests: readonly RollupManifest[]): number {
  return manifests.reduce((sum, { records }) => sum + records, 0);
}

/** Reads the manifests of the current version where `hours`, a condition on `hour`, holds. */
export function readManifests(
  { engine, project, signal }: Reading,
  hours: Sql,
): Promise<readonly RollupManifest[]> {
  return engine.rows<RollupManifest>(
    sql`SELECT hour, first_hour AS first, last_hour AS last, slice, toString(batch_id) AS batch,
          manifest.slices AS slices, toString(manifest.fingerprint) AS fingerprint, toString(manifest.trace_set_hash) AS traceSetHash, manifest.records AS records,
          manifest.first_started_at_us AS first_started_at_us, manifest.last_started_at_us AS last_started_at_us, manifest.llms AS llms
        FROM usage_rollup FINAL
        WHERE project_id = ${param("String", project)} AND ${IS_MANIFEST} AND ${hours}
          AND manifest.version = ${param("UInt32", RECORD_VERSION)}`,
    { name: "usage_rollup_find", limits: "heavy", dependsOn: ["usage_rollup"], signal },
  );
}

/** SQL: `FROM` and `WHERE` of the rows of some kinds under manifests. */
export function rowsUnder(project: Project, manifests: readonly RollupManifest[], kinds: Sql): Sql {
  const hours = hourIn([...new Set(manifests.map(({ hour }) => hour))]);
  const batches = param(
    "Array(UInt64)",
    manifests.map(({ batch }) => batch),
  );
  return sql`FROM usage_rollup WHERE project_id = ${param("String", project)} AND ${kinds} AND ${hours} AND batch_id IN ${batches}`;
}

/** SQL subquery of the records, with the column that conditions on roots read. */
export function recordsUnder(project: Project, manifests: readonly RollupManifest[]): Sql {
  return sql`(SELECT *, if(is_root = 1, '', '-') AS parent_id ${rowsUnder(project, manifests, IS_RECORD)})`;
}
