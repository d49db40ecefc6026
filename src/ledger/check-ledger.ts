import type { Engine } from "../store/engine.ts";
import { param, sql, join, trusted } from "../query/sql.ts";
import { ENTRY_COLUMNS } from "./entries.ts";
import { foldHour } from "./fold-hour.ts";
import type { Project } from "../shared/project.ts";
import { hourKey, oneOf, type Hour } from "./hour.ts";
import { inChunks } from "./hour-chunks.ts";
import { readSettled, type SettledHour } from "./settled-hours.ts";
import { GRAINS, rowsOf, rowsOfGroup, type LedgerRow } from "./settled-rows.ts";
import { foldEach, settleGroups } from "./settle-groups.ts";
import { settleHours, type SettleDeps } from "./settle-hours.ts";
import { groupKey, readGroups } from "./spanning-groups.ts";
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
    const settled = await readHours(engine, { ...asked, settled: true });
    const different = new Map<string, Hour>();
    for (const hour of settled) {
      report.settled++;
      if (await isDifferent(engine, hour, signal)) different.set(hourKey(hour), hour);
    }
    for (const { project, hours } of inChunks(settled))
      for (const hour of await differentGroups(engine, project, hours, signal))
        different.set(hourKey(hour), hour);
    report.different.push(...different.values());
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
    const all: Hour[] = [];
    for (const settled of [true, false]) {
      const hours = await readHours(deps.engine, { ...asked, settled });
      const left = await settleHours(deps, hours);
      done.settled += settled ? 0 : hours.length - left.length;
      done.live += settled ? 0 : left.length;
      if (settled) done.settled += hours.length;
      all.push(...hours);
    }
    for (const one of inChunks(all)) await settleGroups(deps, { ...one, beforeHour: ALWAYS, again: true });
  }
  return done;
}

/** Compares what a question would read of the groups under some hours. Returns the hours where it differs. */
async function differentGroups(
  engine: Engine,
  project: Project,
  hours: readonly number[],
  signal: AbortSignal,
): Promise<readonly Hour[]> {
  const groups = await readGroups(engine, project, oneOf(hours), { name: "ledger_groups", signal });
  const asked = {
    window: oneOf([...new Set(groups.flatMap((group) => group.hours))]),
    grains: ["spanning"],
  } as const;
  const settled = Map.groupBy(await readSettled(engine, project, asked, signal), settledKey);
  const different: Hour[] = [];
  for await (const folded of foldEach(engine, project, groups, signal)) {
    const expected = new Map<string, LedgerRow>();
    for (const { group, fingerprints, entries } of folded) {
      const rows = rowsOfGroup(project, group, { fingerprints, entries });
      const of = { hours: group.hours, fingerprints, spanning: group.digest };
      const latest = new Map(settled.get(settledKey(of))?.map((one) => [one.hour, one]));
      for (const one of latest.values())
        expected.set(`${one.hour} ${one.settlement}`, rows[group.hours.indexOf(one.hour)]!);
    }
    const keys = [...expected.keys()];
    const found = await storedRows(engine, project, GRAINS.spanning, keys);
    for (const [key, row] of expected) {
      const stored = found.filter((one) => one["key"] === key);
      if (textOfEntries(stored) !== textOfEntries([row]))
        different.push({ project, hour: Number(row["hour"]) });
    }
  }
  return different;
}

function settledKey(of: Pick<SettledHour, "hours" | "fingerprints" | "spanning">): string {
  return `${groupKey(of.hours)} ${of.fingerprints.join()} ${of.spanning}`;
}

/** Compares what a question would read. */
async function isDifferent(engine: Engine, hour: StoredHour, signal: AbortSignal): Promise<boolean> {
  const folded = await foldHour(engine, hour, signal);
  if (folded === undefined) return true;
  const expected = await rowsOf(hour, folded);
  const asked = { window: oneOf([hour.hour]), grains: ["calls", "quarters"] } as const;
  const found = await readSettled(engine, hour.project, asked, signal);
  const latest = new Map<number, SettledHour>();
  for (const settled of found)
    if (settled.fingerprints[0] === folded.fingerprint && settled.spanning === folded.spanning)
      latest.set(settled.grain, settled);
  for (const [grain, { settlement }] of latest) {
    const stored = await storedRows(engine, hour.project, grain, [`${hour.hour} ${settlement}`]);
    const ofGrain = expected.filter((row) => row["grain"] === grain);
    if (textOfEntries(stored) !== textOfEntries(ofGrain)) return true;
  }
  return false;
}

/** `keys`: hours and settlements, as each row has its own in `key`. */
function storedRows(
  engine: Engine,
  project: Project,
  grain: number,
  keys: readonly string[],
): Promise<readonly LedgerRow[]> {
  const columns = join(
    ENTRY_COLUMNS.map((name) => trusted(name)),
    ", ",
  );
  const hours = [...new Set(keys.map((key) => Number.parseInt(key, 10)))];
  return engine.rows<LedgerRow>(
    sql`SELECT concat(toString(hour), ' ', settlement) AS key, quarters, ${columns} FROM usage_hours
        WHERE project_id = ${param("String", project)} AND ${oneOf(hours)}
        AND grain = ${param("UInt32", grain)} AND key IN ${param("Array(String)", keys)}`,
    { name: "ledger_check", limits: "maintenance" },
  );
}

/** In an order that does not depend on how they were read. */
function textOfEntries(rows: readonly LedgerRow[]): string {
  return [...rows.map((row) => row["quarters"]), ...rows.flatMap(entryTexts).sort()].join("\n");
}

function entryTexts(row: LedgerRow): readonly string[] {
  const columns = ENTRY_COLUMNS.map((name) => row[name] as readonly unknown[]);
  return columns[0]!.map((_, entry) => JSON.stringify(columns.map((values) => values[entry])));
}
