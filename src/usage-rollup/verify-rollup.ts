import type { Engine } from "../store/engine.ts";
import { join, param, sql, trusted } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { RECORD_COLUMNS, type UsageRecord } from "./usage-record.ts";
import { IS_MANIFEST, recordRows, type MaterializedSlice } from "./rows.ts";
import { spanKey, hourKey, type Hour, inChunks } from "./hours.ts";
import { RollupWriter, type RollupWriterDeps } from "./rollup-writer.ts";
import { materializeHours, type RollupSink } from "./materialize.ts";
import { readHours, readPartitions, type StoredHour } from "./stored-hours.ts";

/** Exclusive upper bound of every hour. */
const AFTER_ALL_HOURS = 2 ** 31 - 1;
const MAX_HOURS = 1_000_000;

export interface VerifyReport {
  /** Number of hours with valid manifests. */
  readonly materialized: number;
  /** Number of hours aggregated at query time: changed since, or never materialized. */
  readonly live: number;
  /** Materialized hours whose records differ from their calls. */
  readonly different: readonly Hour[];
}

/** Folds every materialized hour again and compares. Cost: O(rows of `calls`). */
export async function verifyRollup(engine: Engine, signal: AbortSignal): Promise<VerifyReport> {
  const report = { materialized: 0, live: 0 };
  const different = new Map<string, Hour>();
  for await (const hours of allHours(engine, signal)) {
    const materialized = hours.filter(({ isMaterialized }) => isMaterialized === 1);
    report.materialized += materialized.length;
    report.live += hours.length - materialized.length;
    for (const { project, hours: some } of inChunks(materialized)) {
      const comparison = new Comparison(engine, project);
      const requested = { hours: some, beforeHour: AFTER_ALL_HOURS, force: true };
      await materializeHours({ engine, project, signal }, requested, comparison);
      for (const hour of comparison.different) different.set(hourKey({ project, hour }), { project, hour });
    }
  }
  return { ...report, different: [...different.values()].sort((a, b) => a.hour - b.hour) };
}

/** Materializes every hour anew. Returns how many, and how many are left to query time. Cost: O(rows of `calls`). */
export async function rebuildRollup(
  deps: RollupWriterDeps,
): Promise<{ readonly materialized: number; readonly live: number }> {
  const done = { materialized: 0, live: 0 };
  for await (const hours of allHours(deps.engine, deps.signal)) {
    for (const { project, hours: some } of inChunks(hours)) {
      const writer = new RollupWriter(deps, project);
      const requested = { hours: some, beforeHour: AFTER_ALL_HOURS, force: true };
      await materializeHours({ ...deps, project }, requested, writer);
      done.materialized += writer.materializedHours.size;
      done.live += some.length - writer.materializedHours.size;
    }
  }
  return done;
}

async function* allHours(engine: Engine, signal: AbortSignal): AsyncGenerator<readonly StoredHour[]> {
  for (const { id: partition } of await readPartitions(engine, signal))
    yield readHours(engine, {
      partition,
      beforeHour: AFTER_ALL_HOURS,
      unmaterialized: false,
      limit: MAX_HOURS,
      signal,
    });
}

/** Sink that compares folded slices with the stored records. */
class Comparison implements RollupSink {
  readonly different = new Set<number>();
  readonly #engine: Engine;
  readonly #project: Project;
  /** Records of spans whose last slice has not arrived. */
  readonly #folded = new Map<string, readonly UsageRecord[]>();

  constructor(engine: Engine, project: Project) {
    this.#engine = engine;
    this.#project = project;
  }

  async add(materialized: readonly MaterializedSlice[]): Promise<void> {
    for (const slice of materialized) {
      const key = `${slice.hour} ${spanKey(slice)}`;
      const records = [...(this.#folded.get(key) ?? []), ...slice.records];
      this.#folded.set(key, records);
      if (slice.slice + 1 < slice.slices) continue;
      this.#folded.delete(key);
      const stored = await this.#storedRows(slice);
      if (
        stored !== undefined &&
        textOf(stored) !== textOf(recordRows(records).map(({ kind, record }) => ({ kind, ...record })))
      )
        this.different.add(slice.hour);
    }
  }

  async flush(): Promise<void> {
    this.#folded.clear();
  }

  /** `undefined` if the rollup has no valid manifest of the slice. */
  async #storedRows(of: MaterializedSlice): Promise<readonly StoredRow[] | undefined> {
    const under = sql`project_id = ${param("String", this.#project)} AND hour = ${param("Int64", of.hour)}
      AND first_hour = ${param("Int64", of.first)} AND last_hour = ${param("Int64", of.last)}`;
    const manifests = await this.#engine.rows<{ batch: string }>(
      sql`SELECT toString(batch_id) AS batch FROM usage_rollup FINAL WHERE ${IS_MANIFEST} AND ${under}
          AND manifest.fingerprint = ${param("UInt64", of.fingerprint)} AND manifest.trace_set_hash = ${param("UInt64", of.traceSetHash)}`,
      { name: "usage_rollup_verify_manifests", limits: "maintenance" },
    );
    if (manifests.length === 0) return undefined;
    const columns = join(
      ROW_COLUMNS.map((name) => trusted(name)),
      ", ",
    );
    const batches = manifests.map(({ batch }) => batch);
    return this.#engine.rows<StoredRow>(
      sql`SELECT ${columns} FROM usage_rollup WHERE NOT ${IS_MANIFEST} AND ${under}
          AND batch_id IN ${param("Array(UInt64)", batches)}`,
      { name: "usage_rollup_verify", limits: "maintenance" },
    );
  }
}

type StoredRow = UsageRecord & { readonly kind: number };
const ROW_COLUMNS = ["kind", ...RECORD_COLUMNS] as const;

/** Canonical text of rows, independent of their order. */
function textOf(rows: readonly StoredRow[]): string {
  const texts = rows.map((row) => JSON.stringify(ROW_COLUMNS.map((name) => row[name])));
  return texts.sort().join("\n");
}
