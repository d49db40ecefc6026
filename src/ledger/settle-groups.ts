import type { Engine } from "../store/engine.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { Entry } from "./entries.ts";
import { foldCalls } from "./fold-hour.ts";
import { NO_ROWS, oneOf, readFingerprints } from "./hour.ts";
import { isCurrent, readSettled } from "./settled-hours.ts";
import { rowsOfGroup } from "./settled-rows.ts";
import type { SettleDeps } from "./settle-hours.ts";
import { groupState, readGroups, type GroupToFold } from "./spanning-groups.ts";

/** Rows of `calls` that are folded at once. A group with more is always folded live. */
const MAX_ROWS = 100_000;
const TRACES_PER_FOLD = 2000;

export interface GroupsToSettle {
  readonly project: Project;
  /** Groups that have calls under one of these. */
  readonly hours: readonly number[];
  /** Groups that lie under earlier hours alone. */
  readonly beforeHour: number;
  /** Also those that the ledger has as they are. */
  readonly again?: boolean;
}

/** Writes groups of spanning traces into the ledger. Returns how many entries it has folded. */
export async function settleGroups(deps: SettleDeps, asked: GroupsToSettle): Promise<number> {
  const { engine, signal } = deps;
  const { project, hours, beforeHour } = asked;
  const found = await readGroups(engine, project, oneOf(hours), { name: "ledger_groups", signal });
  const over = found.filter((group) => group.hours.every((hour) => hour < beforeHour));
  const known = asked.again === true ? new Set() : await settledKeys(engine, project, over, signal);
  const toSettle = over.filter((group) => !known.has(groupState(group)));
  let rows = 0;
  for await (const folded of foldEach(engine, project, toSettle, signal)) {
    rows += folded.reduce((sum, one) => sum + one.rows, 0);
    await writeUnchanged(deps, project, folded);
  }
  return rows;
}

export interface FoldedGroup {
  readonly group: GroupToFold;
  /** Of its hours, one after the other. */
  readonly fingerprints: readonly string[];
  /** By the hour that their calls lie under. */
  readonly entries: ReadonlyMap<number, readonly Entry[]>;
  /** How many there are. */
  readonly rows: number;
}

/** Folds groups, some at a time; not those that change meanwhile, or have too many calls. */
export async function* foldEach(
  engine: Engine,
  project: Project,
  groups: readonly GroupToFold[],
  signal: AbortSignal,
): AsyncGenerator<readonly FoldedGroup[]> {
  const waiting = [...inFolds(groups)];
  for (let some = waiting.shift(); some !== undefined; some = waiting.shift()) {
    const folded = await fold(engine, project, some, signal);
    if (folded !== "too many" && folded !== undefined) yield folded;
    if (folded !== "too many" || some.length === 1) continue;
    const half = Math.ceil(some.length / 2);
    waiting.unshift(some.slice(0, half), some.slice(half));
  }
}

/**
 * What the calls of some groups themselves used. One statement has the fingerprints of the hours and, of the same rows, that
 * of the groups' traces; another one reads these traces. If both have the same fingerprint of the traces, the calls are
 * those of the hours' fingerprints, whichever replicas were read, and when. Undefined: they are not, or too many.
 */
async function fold(
  engine: Engine,
  project: Project,
  groups: readonly GroupToFold[],
  signal: AbortSignal,
): Promise<readonly FoldedGroup[] | "too many" | undefined> {
  const hours = [...new Set(groups.flatMap((group) => group.hours))];
  const traceIds = groups.flatMap((group) => group.traceIds);
  const prints = await readPrints(engine, project, { hours, traceIds }, signal);
  if (prints.reduce((sum, print) => sum + print.rows, 0) > MAX_ROWS) return "too many";
  const within = sql`${oneOf(hours)} AND ${oneOfTraces(traceIds)}`;
  const calls = await foldCalls(engine, { project, within, except: [] }, signal);
  const expected = prints.reduce((sum, print) => BigInt.asUintN(64, sum + BigInt(print.ofTraces)), 0n);
  if (calls === undefined || calls.fingerprint !== expected) return undefined;
  const groupOf = new Map(groups.flatMap((group) => group.traceIds.map((id) => [id, group] as const)));
  const entries = new Map(groups.map((group) => [group, new Map<number, Entry[]>()]));
  for (const [place, entry] of calls.entries.entries()) {
    const ofGroup = entries.get(groupOf.get(entry.trace_id)!)!;
    const hour = calls.hours[place]!;
    const known = ofGroup.get(hour);
    if (known === undefined) ofGroup.set(hour, [entry]);
    else known.push(entry);
  }
  const current = new Map(prints.map(({ hour, whole }) => [hour, whole]));
  return [...entries].map(([group, ofGroup]) => ({
    group,
    fingerprints: group.hours.map((hour) => current.get(hour) ?? NO_ROWS),
    entries: ofGroup,
    rows: [...ofGroup.values()].reduce((sum, ofHour) => sum + ofHour.length, 0),
  }));
}

interface Print {
  readonly hour: number;
  readonly whole: string;
  readonly ofTraces: string;
  readonly rows: number;
}

function readPrints(
  engine: Engine,
  project: Project,
  { hours, traceIds }: { readonly hours: readonly number[]; readonly traceIds: readonly string[] },
  signal: AbortSignal,
): Promise<readonly Print[]> {
  return engine.rows<Print>(
    sql`SELECT hour, toString(sum(fingerprint)) AS whole, toString(sumIf(fingerprint, isOne)) AS ofTraces, countIf(isOne) AS rows
        FROM (SELECT hour, fingerprint, ${oneOfTraces(traceIds)} AS isOne FROM calls
              PREWHERE project_id = ${param("String", project)} AND ${oneOf(hours)})
        GROUP BY hour`,
    { name: "ledger_prints", limits: "maintenance", signal },
  );
}

function oneOfTraces(traceIds: readonly string[]): Sql {
  return sql`trace_id IN ${param("Array(String)", traceIds)}`;
}

async function writeUnchanged(
  { engine, between }: SettleDeps,
  project: Project,
  folded: readonly FoldedGroup[],
): Promise<void> {
  const hours = [...new Set(folded.flatMap(({ group }) => group.hours))];
  await between(async () => {
    const current = await readFingerprints(engine, project, oneOf(hours), { name: "ledger_compare" });
    const unchanged = folded.filter(({ group, fingerprints }) =>
      isCurrent({ hours: group.hours, fingerprints }, current),
    );
    const rows = unchanged.flatMap((one) => rowsOfGroup(project, one.group, one));
    await engine.insert("usage_hours", rows, { name: "ledger_add" });
  });
}

/** The groups that the ledger has as they are. */
async function settledKeys(
  engine: Engine,
  project: Project,
  groups: readonly GroupToFold[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (groups.length === 0) return new Set();
  const hours = oneOf([...new Set(groups.flatMap((group) => group.hours))]);
  const [known, current] = await Promise.all([
    readSettled(engine, project, { window: hours, grains: ["spanning"] }, signal),
    readFingerprints(engine, project, hours, { name: "ledger_fingerprints", signal }),
  ]);
  const there = new Map<string, Set<number>>();
  for (const one of known) {
    if (!isCurrent(one, current)) continue;
    const key = groupState({ hours: one.hours, digest: one.spanning });
    there.set(key, (there.get(key) ?? new Set()).add(one.hour));
  }
  return new Set(
    groups.filter((group) => there.get(groupState(group))?.size === group.hours.length).map(groupState),
  );
}

function inFolds(groups: readonly GroupToFold[]): readonly (readonly GroupToFold[])[] {
  const folds: GroupToFold[][] = [];
  let room = 0;
  for (const group of groups) {
    if (room < group.traceIds.length || folds.length === 0) {
      folds.push([]);
      room = TRACES_PER_FOLD;
    }
    folds.at(-1)!.push(group);
    room -= group.traceIds.length;
  }
  return folds;
}
