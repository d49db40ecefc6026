import type { Engine } from "../store/engine.ts";
import { join, param, sql, trusted } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { ENTRY_COLUMNS, type Entry } from "./entry.ts";
import { groupKey } from "./group.ts";
import { hourKey, type Hour } from "./hour.ts";
import { inChunks } from "./hour-chunks.ts";
import { LedgerWriter, type SettleDeps } from "./ledger-writer.ts";
import type { SettledUnder } from "./rows.ts";
import { settleHours, type Settlements } from "./settle.ts";
import { readHours, readPartitions, type StoredHour } from "./stored-hours.ts";

/** All hours, of any year. */
const ALWAYS = 2 ** 31 - 1;
const ALL = 1_000_000;

export interface LedgerReport {
  /** Hours that the ledger has as they are now. */
  readonly settled: number;
  /** Hours that are folded live: they have changed since, or never been settled. */
  readonly live: number;
  /** Of the settled ones, those that say something else than their calls. */
  readonly different: readonly Hour[];
}

/** Folds every settled hour again and compares. */
export async function checkLedger(engine: Engine, signal: AbortSignal): Promise<LedgerReport> {
  const report = { settled: 0, live: 0 };
  const different = new Map<string, Hour>();
  for await (const hours of allHours(engine, signal)) {
    const settled = hours.filter(({ isSettled }) => isSettled === 1);
    report.settled += settled.length;
    report.live += hours.length - settled.length;
    for (const { project, hours: some } of inChunks(settled)) {
      const comparison = new Comparison(engine, project);
      const asked = { project, hours: some, beforeHour: ALWAYS, again: true };
      await settleHours({ engine, signal }, asked, comparison);
      for (const hour of comparison.different) different.set(hourKey({ project, hour }), { project, hour });
    }
  }
  return { ...report, different: [...different.values()].sort((a, b) => a.hour - b.hour) };
}

/** Settles every hour, also those that are settled. Returns how many, and how many were left to be folded live. */
export async function rebuildLedger(
  deps: SettleDeps,
): Promise<{ readonly settled: number; readonly live: number }> {
  const done = { settled: 0, live: 0 };
  for await (const hours of allHours(deps.engine, deps.signal)) {
    for (const { project, hours: some } of inChunks(hours)) {
      const writer = new LedgerWriter(deps, project);
      await settleHours(deps, { project, hours: some, beforeHour: ALWAYS, again: true }, writer);
      done.settled += writer.settledHours.size;
      done.live += some.length - writer.settledHours.size;
    }
  }
  return done;
}

async function* allHours(engine: Engine, signal: AbortSignal): AsyncGenerator<readonly StoredHour[]> {
  for (const { id: partition } of await readPartitions(engine, signal))
    yield readHours(engine, { partition, beforeHour: ALWAYS, unsettled: false, limit: ALL, signal });
}

/** Compares what is folded with what the ledger has of it. */
class Comparison implements Settlements {
  /** Hours where it is not the same. */
  readonly different = new Set<number>();
  readonly #engine: Engine;
  readonly #project: Project;
  /** Entries of groups whose last parts are still to come. */
  readonly #folded = new Map<string, readonly Entry[]>();

  constructor(engine: Engine, project: Project) {
    this.#engine = engine;
    this.#project = project;
  }

  async add(settled: readonly SettledUnder[]): Promise<void> {
    for (const one of settled) {
      const key = `${one.hour} ${groupKey(one)}`;
      const entries = [...(this.#folded.get(key) ?? []), ...one.entries];
      this.#folded.set(key, entries);
      if (one.part + 1 < one.parts) continue;
      this.#folded.delete(key);
      const stored = await this.#storedEntries(one);
      if (stored !== undefined && textOf(stored) !== textOf(entries)) this.different.add(one.hour);
    }
  }

  async flush(): Promise<void> {
    this.#folded.clear();
  }

  /** Undefined: the ledger does not have it as it is now. */
  async #storedEntries(of: SettledUnder): Promise<readonly Entry[] | undefined> {
    const under = sql`project_id = ${param("String", this.#project)} AND hour = ${param("Int64", of.hour)}
      AND first_hour = ${param("Int64", of.first)} AND last_hour = ${param("Int64", of.last)}`;
    const heads = await this.#engine.rows<{ settlement: string }>(
      sql`SELECT toString(settlement) AS settlement FROM usage_ledger FINAL WHERE is_entry = 0 AND ${under}
          AND head.fingerprint = ${param("UInt64", of.fingerprint)} AND head.digest = ${param("UInt64", of.digest)}`,
      { name: "ledger_check_heads", limits: "maintenance" },
    );
    if (heads.length === 0) return undefined;
    const columns = join(
      ENTRY_COLUMNS.map((name) => trusted(name)),
      ", ",
    );
    const settlements = heads.map(({ settlement }) => settlement);
    return this.#engine.rows<Entry>(
      sql`SELECT ${columns} FROM usage_ledger WHERE is_entry = 1 AND ${under}
          AND settlement IN ${param("Array(UInt64)", settlements)}`,
      { name: "ledger_check", limits: "maintenance" },
    );
  }
}

/** In an order that does not depend on how they were read. */
function textOf(entries: readonly Entry[]): string {
  const texts = entries.map((entry) => JSON.stringify(ENTRY_COLUMNS.map((name) => entry[name])));
  return texts.sort().join("\n");
}
