import type { Engine } from "../clickhouse/engine.ts";
import { param, sql, join, trusted } from "../query/sql.ts";
import { ENTRY_COLUMNS } from "./entries.ts";
import { foldHour } from "./fold-hour.ts";
import type { Hour } from "./hour.ts";
import { readSettled, type SettledHour } from "./settled-hours.ts";
import { rowsOf, type LedgerRow } from "./settled-rows.ts";
import { settleHours, type SettleDeps } from "./settle-hours.ts";
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
  const report = { settled: 0, live: 0, different: [] as Hour[] };
  for (const { id: partition } of await readPartitions(engine, signal)) {
    const asked = { partition, beforeHour: ALWAYS, limit: ALL, signal };
    report.live += (await readHours(engine, { ...asked, settled: false })).length;
    for (const hour of await readHours(engine, { ...asked, settled: true })) {
      report.settled++;
      if (await isDifferent(engine, hour, signal)) report.different.push(hour);
    }
  }
  return report;
}

/** Settles every hour, also those that are settled. Returns how many, and how many were left to be folded live. */
export async function rebuildLedger(
  deps: SettleDeps,
): Promise<{ readonly settled: number; readonly live: number }> {
  const done = { settled: 0, live: 0 };
  for (const { id: partition } of await readPartitions(deps.engine, deps.signal)) {
    const asked = { partition, beforeHour: ALWAYS, limit: ALL, signal: deps.signal };
    for (const settled of [true, false]) {
      const hours = await readHours(deps.engine, { ...asked, settled });
      const left = await settleHours(deps, hours);
      done.settled += settled ? 0 : hours.length - left.length;
      done.live += settled ? 0 : left.length;
      if (settled) done.settled += hours.length;
    }
  }
  return done;
}

/** Compares what a question would read. */
async function isDifferent(engine: Engine, hour: StoredHour, signal: AbortSignal): Promise<boolean> {
  const folded = await foldHour(engine, hour, signal);
  if (folded === undefined) return true;
  const expected = textsByGrain(await rowsOf(hour, folded));
  const found = await readSettled(engine, hour.project, sql`hour = ${param("Int64", hour.hour)}`, {
    name: "ledger_find",
  });
  const latest = new Map<number, SettledHour>();
  for (const settled of found)
    if (settled.fingerprint === folded.fingerprint && settled.spanning === folded.spanning)
      latest.set(settled.grain, settled);
  for (const settled of latest.values())
    if (
      textsByGrain(await storedRows(engine, hour, settled)).get(settled.grain) !== expected.get(settled.grain)
    )
      return true;
  return false;
}

function storedRows(
  engine: Engine,
  { project, hour }: Hour,
  { grain, settlement }: SettledHour,
): Promise<readonly LedgerRow[]> {
  const columns = join(
    ENTRY_COLUMNS.map((name) => trusted(name)),
    ", ",
  );
  return engine.rows<LedgerRow>(
    sql`SELECT grain, ${columns} FROM usage_hours
        WHERE project_id = ${param("String", project)} AND hour = ${param("Int64", hour)}
        AND grain = ${param("UInt32", grain)} AND settlement = ${param("String", settlement)}`,
    { name: "ledger_check", limits: "maintenance" },
  );
}

/** The entries of each grain, in an order that does not depend on how they were read. */
function textsByGrain(rows: readonly LedgerRow[]): ReadonlyMap<number, string> {
  const byGrain = Map.groupBy(rows, ({ grain }) => Number(grain));
  return new Map(
    [...byGrain].map(([grain, ofGrain]) => [grain, ofGrain.flatMap(entryTexts).sort().join("\n")]),
  );
}

function entryTexts(row: LedgerRow): readonly string[] {
  const columns = ENTRY_COLUMNS.map((name) => row[name] as readonly unknown[]);
  return columns[0]!.map((_, entry) => JSON.stringify(columns.map((values) => values[entry])));
}
