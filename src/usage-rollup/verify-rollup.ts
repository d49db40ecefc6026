import type { Engine } from "../store/engine.ts";
import { join, param, sql, trusted } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { RECORD_COLUMNS, type UsageRecord } from "./usage-record.ts";
import { spanKey } from "./hour-span.ts";
import { hourKey, type Hour } from "./hour.ts";
import { inChunks } from "./hour-chunks.ts";
import { RollupWriter, type RollupWriterDeps } from "./rollup-writer.ts";
import type { MaterializedSlice } from "./rows.ts";
import { materializeHours, type RollupSink } from "./materialize.ts";
import { readHours, readPartitions, type StoredHour } from "./stored-hours.ts";

/** All hours, of any year. */
const ALWAYS = 2 ** 31 - 1;
const ALL = 1_000_000;

export interface VerifyReport {
  /** Hours that the ledger has as they are now. */
  readonly materialized: number;
  /** Hours that are folded live: they have changed since, or never been settled. */
  readonly live: number;
  /** Of the settled ones, those that say something else than their calls. */
  readonly different: readonly Hour[];
}

/** Folds every settled hour again and compares. */
export async function verifyRollup(engine: Engine, signal: AbortSignal): Promise<VerifyReport> {
  const report = { materialized: 0, live: 0 };
  const different = new Map<string, Hour>();
  for await (const hours of allHours(engine, signal)) {
    const materialized = hours.filter(({ isMaterialized }) => isMaterialized === 1);
    report.materialized += materialized.length;
    report.live += hours.length - materialized.length;
    for (const { project, hours: some } of inChunks(materialized)) {
      const comparison = new Comparison(engine, project);
      const requested = { project, hours: some, beforeHour: ALWAYS, again: true };
      await materializeHours({ engine, signal }, requested, comparison);
      for (const hour of comparison.different) different.set(hourKey({ project, hour }), { project, hour });
    }
  }
  return { ...report, different: [...different.values()].sort((a, b) => a.hour - b.hour) };
}

/** Settles every hour, also those that are settled. Returns how many, and how many were left to be folded live. */
export async function rebuildRollup(
  deps: RollupWriterDeps,
): Promise<{ readonly materialized: number; readonly live: number }> {
  const done = { materialized: 0, live: 0 };
  for await (const hours of allHours(deps.engine, deps.signal)) {
    for (const { project, hours: some } of inChunks(hours)) {
      const writer = new RollupWriter(deps, project);
      await materializeHours(deps, { project, hours: some, beforeHour: ALWAYS, again: true }, writer);
      done.materialized += writer.materializedHours.size;
      done.live += some.length - writer.materializedHours.size;
    }
  }
  return done;
}

async function* allHours(engine: Engine, signal: AbortSignal): AsyncGenerator<readonly StoredHour[]> {
  for (const { id: partition } of await readPartitions(engine, signal))
    yield readHours(engine, { partition, beforeHour: ALWAYS, unmaterialized: false, limit: ALL, signal });
}

/** Compares what is folded with what the ledger has of it. */
class Comparison implements RollupSink {
  /** Hours where it is not the same. */
  readonly different = new Set<number>();
  readonly #engine: Engine;
  readonly #project: Project;
  /** Entries of groups whose last parts are still to come. */
  readonly #folded = new Map<string, readonly UsageRecord[]>();

  constructor(engine: Engine, project: Project) {
    this.#engine = engine;
    this.#project = project;
  }

  async add(materialized: readonly MaterializedSlice[]): Promise<void> {
    for (const one of materialized) {
      const key = `${one.hour} ${spanKey(one)}`;
      const records = [...(this.#folded.get(key) ?? []), ...one.records];
      this.#folded.set(key, records);
      if (one.slice + 1 < one.slices) continue;
      this.#folded.delete(key);
      const stored = await this.#storedRecords(one);
      if (stored !== undefined && textOf(stored) !== textOf(records)) this.different.add(one.hour);
    }
  }

  async flush(): Promise<void> {
    this.#folded.clear();
  }

  /** Undefined: the ledger does not have it as it is now. */
  async #storedRecords(of: MaterializedSlice): Promise<readonly UsageRecord[] | undefined> {
    const under = sql`project_id = ${param("String", this.#project)} AND hour = ${param("Int64", of.hour)}
      AND first_hour = ${param("Int64", of.first)} AND last_hour = ${param("Int64", of.last)}`;
    const manifests = await this.#engine.rows<{ batch: string }>(
      sql`SELECT toString(batch_id) AS batch FROM usage_rollup FINAL WHERE is_record = 0 AND ${under}
          AND manifest.fingerprint = ${param("UInt64", of.fingerprint)} AND manifest.trace_set_hash = ${param("UInt64", of.traceSetHash)}`,
      { name: "usage_rollup_check_heads", limits: "maintenance" },
    );
    if (manifests.length === 0) return undefined;
    const columns = join(
      RECORD_COLUMNS.map((name) => trusted(name)),
      ", ",
    );
    const batches = manifests.map(({ batch }) => batch);
    return this.#engine.rows<UsageRecord>(
      sql`SELECT ${columns} FROM usage_rollup WHERE is_record = 1 AND ${under}
          AND batch_id IN ${param("Array(UInt64)", batches)}`,
      { name: "usage_rollup_check", limits: "maintenance" },
    );
  }
}

/** In an order that does not depend on how they were read. */
function textOf(records: readonly UsageRecord[]): string {
  const texts = records.map((record) => JSON.stringify(RECORD_COLUMNS.map((name) => record[name])));
  return texts.sort().join("\n");
}
