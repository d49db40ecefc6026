import { IS_MANIFEST, RECORD_VERSION } from "./rows.ts";
import type { Engine } from "../store/engine.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Hour } from "./hours.ts";

/** A partition of `calls`. */
export interface Partition {
  readonly id: string;
  /** Version text that changes with every insert or mutation, not with merges. */
  readonly state: string;
}

/** Reads the partitions of `calls` on all shards, newest first. */
export async function readPartitions(engine: Engine, signal: AbortSignal): Promise<readonly Partition[]> {
  const found = await engine.rows<Partition>(
    sql`SELECT partition_id AS id, concat(toString(max(max_block_number)), ' ', toString(max(data_version))) AS state
        FROM system.parts WHERE database = currentDatabase() AND table = 'calls' AND active
        GROUP BY partition_id`,
    { name: "usage_rollup_partitions", limits: "maintenance", tables: "per_shard", signal },
  );
  return [...Map.groupBy(found, ({ id }) => id)]
    .map(([id, ofShards]) => ({ id, state: ofShards.map(({ state }) => state).join(", ") }))
    .toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

export interface StoredHour extends Hour {
  /** Rows of `calls`. */
  readonly rows: number;
  readonly fingerprint: string;
  readonly isMaterialized: 0 | 1;
}

export interface HoursRequested {
  readonly partition: string;
  /** Exclusive upper bound. */
  readonly beforeHour: number;
  /** If true, skips materialized hours. */
  readonly unmaterialized: boolean;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Reads hours of all projects, latest first, alternating between entities. */
export async function readHours(engine: Engine, requested: HoursRequested): Promise<readonly StoredHour[]> {
  const hours = sql`${hoursOf(requested.partition)} AND hour < ${param("Int64", requested.beforeHour)}`;
  const isRequested = requested.unmaterialized ? sql`isMaterialized = 0` : sql`1`;
  return engine.rows<StoredHour>(
    sql`SELECT project_id AS project, hour, rows, toString(found) AS fingerprint,
          (project_id, hour, found, ifNull(traceSetHash, 0)) IN
            (SELECT project_id, hour, manifest.fingerprint, manifest.trace_set_hash FROM usage_rollup FINAL
             WHERE ${IS_MANIFEST} AND first_hour = last_hour AND manifest.version = ${param("UInt32", RECORD_VERSION)} AND ${hours}
             GROUP BY project_id, hour, manifest.fingerprint, manifest.trace_set_hash, manifest.slices HAVING count() = manifest.slices) AS isMaterialized
        FROM
          (SELECT project_id, hour, sum(calls.fingerprint) AS found, count() AS rows FROM calls WHERE ${hours} GROUP BY project_id, hour) AS stored
        LEFT JOIN
          (SELECT project_id, hour, sum(cityHash64(trace_id)) AS traceSetHash FROM
             (SELECT DISTINCT project_id, hour, trace_id FROM multi_hour_traces WHERE ${hours}) GROUP BY project_id, hour) AS multi_hour
        USING (project_id, hour)
        WHERE ${isRequested}
        ORDER BY row_number() OVER (PARTITION BY splitByChar('/', project)[1] ORDER BY hour DESC, project), hour DESC, project
        LIMIT ${param("UInt32", requested.limit)}`,
    { name: "usage_rollup_hours", limits: "maintenance", signal: requested.signal },
  );
}

/** Hours partitioned by month; all others share one partition. */
const [FIRST_HOUR, LAST_HOUR] = [394_464, 701_279];

function hoursOf(partition: string): Sql {
  const month = /^(\d{4})(\d{2})$/.exec(partition);
  if (month === null)
    return sql`hour NOT BETWEEN ${param("Int64", FIRST_HOUR)} AND ${param("Int64", LAST_HOUR)}`;
  const startOfMonth = (offset: number): number =>
    Date.UTC(Number(month[1]), Number(month[2]) - 1 + offset) / 3_600_000;
  return sql`hour >= ${param("Int64", startOfMonth(0))} AND hour < ${param("Int64", startOfMonth(1))}`;
}
