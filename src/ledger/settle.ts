import type { Engine } from "../store/engine.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { currentHeads, digestsOfHours, NO_SPANNING, stateKey } from "./find-settled.ts";
import { readFingerprints } from "./fingerprints.ts";
import { foldGroups, type GroupToFold, type ToFold } from "./fold-group.ts";
import { groupKey, hoursOf, ofHour, type Group } from "./group.ts";
import { readHeads } from "./heads.ts";
import { oneOf } from "./hour.ts";
import type { SettledUnder } from "./rows.ts";
import { isLong, readSpanningTraces, type SpanningTraces } from "./spanning.ts";

export interface HoursToSettle {
  readonly project: Project;
  readonly hours: readonly HourWithRows[];
  /** Traces that lie under later hours too are left for later. */
  readonly beforeHour: number;
  /** Also groups that the ledger has as they are. */
  readonly again?: boolean;
  /** Rows of `calls` that are folded at once, if traces are small enough. Default: 50,000. */
  readonly rowsPerFold?: number;
}

export interface HourWithRows {
  readonly hour: number;
  /** How many rows of `calls` it has. */
  readonly rows: number;
}

/** What becomes of what was folded: it is written, or compared with what was written. */
export interface Settlements {
  add(settled: readonly SettledUnder[]): Promise<void>;
  flush(): Promise<void>;
}

interface Reading {
  readonly engine: Engine;
  readonly signal: AbortSignal;
}
interface Into extends Reading {
  readonly settlements: Settlements;
  readonly rowsPerFold: number;
}

/** Where a part of the traces has more, they are always folded live. */
const MAX_ROWS_PER_FOLD = 400_000;
const TRACES_PER_FOLD = 2000;

/**
 * Writes what the calls of some hours themselves used into the ledger: first what the groups of several hours have under them, then
 * what is their own. So the groups of an hour that is settled are too, whenever the process is killed. What is written is true of
 * what it says it is true of, whenever it arrives. Returns the hours that cannot be settled as they are.
 */
export async function settleHours(
  reading: Reading,
  asked: HoursToSettle,
  settlements: Settlements,
): Promise<readonly number[]> {
  const { project, hours, rowsPerFold = 50_000 } = asked;
  const spanning = await readSpanningTraces(reading.engine, project, oneOf(hours.map(({ hour }) => hour)), {
    name: "ledger_spanning_traces",
    signal: reading.signal,
  });
  const into = { ...reading, settlements, rowsPerFold };
  const changed = new Set<number>();
  for (const groups of inFolds(await groupsToSettle(reading, asked, spanning)))
    for (const hour of await settleGroups(into, project, groups)) changed.add(hour);
  const digests = digestsOfHours(spanning);
  const spanningUnder = Map.groupBy(spanning, ({ hour }) => hour);
  const refused: number[] = [];
  for (const { hour, rows } of hours) {
    if (changed.has(hour)) continue;
    const excluded = spanningUnder.get(hour)?.flatMap(({ traceIds }) => traceIds) ?? [];
    const under = [{ hour, digest: digests.get(hour) ?? NO_SPANNING }];
    const own: ToFold = {
      project,
      groups: [{ ...ofHour(hour), under, traceIds: [] }],
      members: sql`trace_id NOT IN ${param("Array(String)", excluded)}`,
    };
    if ((await settleInParts(into, own, rows)) === "refused") refused.push(hour);
  }
  await settlements.flush();
  return refused;
}

/** Returns the hours of those that changed meanwhile. */
async function settleGroups(
  into: Into,
  project: Project,
  groups: readonly GroupToFold[],
): Promise<readonly number[]> {
  const traceIds = groups.flatMap((group) => group.traceIds);
  const together: ToFold = { project, groups, members: sql`trace_id IN ${param("Array(String)", traceIds)}` };
  const folded = await foldGroups(into, together, { part: 0, parts: 1, maxRows: into.rowsPerFold });
  const hours = groups.flatMap(({ under }) => under.map(({ hour }) => hour));
  if (folded.failed === undefined) {
    await into.settlements.add(folded.settled);
    return [];
  }
  if (folded.failed === "changed") return hours;
  if (groups.length === 1)
    return (await settleInParts(into, together, folded.rows)) === "changed" ? hours : [];
  const half = Math.ceil(groups.length / 2);
  return [
    ...(await settleGroups(into, project, groups.slice(0, half))),
    ...(await settleGroups(into, project, groups.slice(half))),
  ];
}

/** `rows`: about as many as they have. */
async function settleInParts(
  into: Into,
  toFold: ToFold,
  rows: number,
): Promise<"settled" | "changed" | "refused"> {
  const parts = Math.max(1, Math.ceil(rows / into.rowsPerFold));
  for (let part = 0; part < parts; part++) {
    const folded = await foldGroups(into, toFold, { part, parts, maxRows: MAX_ROWS_PER_FOLD });
    if (folded.failed !== undefined) return folded.failed === "changed" ? "changed" : "refused";
    await into.settlements.add(folded.settled);
  }
  return "settled";
}

/** The groups that have traces under some hours, lie under earlier hours alone, and are not settled. */
async function groupsToSettle(
  { engine, signal }: Reading,
  { project, beforeHour, again }: HoursToSettle,
  spanning: readonly SpanningTraces[],
): Promise<readonly GroupToFold[]> {
  const isAsked = (group: Group): boolean => !isLong(group) && group.last < beforeHour;
  const asked = new Map(spanning.filter(isAsked).map((group) => [groupKey(group), group]));
  if (asked.size === 0) return [];
  // all traces of a group lie under its first hour, so that nothing of it is missing under the others
  const firsts = oneOf([...new Set([...asked.values()].map(({ first }) => first))]);
  const found = await readSpanningTraces(engine, project, firsts, { name: "ledger_groups", signal });
  const groups = Map.groupBy(
    found.filter((group) => asked.has(groupKey(group))),
    groupKey,
  );
  const hours = oneOf([...new Set([...asked.values()].flatMap(hoursOf))]);
  const current = again === true ? new Map() : await readCurrent({ engine, project, signal }, hours);
  return [...groups.values()]
    .filter((under) => !under.every((one) => current.has(stateKey(one))))
    .map((under) => {
      const traceIds = [...new Set(under.flatMap((one) => one.traceIds))];
      return { first: under[0]!.first, last: under[0]!.last, under, traceIds };
    });
}

/** What the ledger has of some hours as they are now, by its state. */
async function readCurrent(
  {
    engine,
    project,
    signal,
  }: { readonly engine: Engine; readonly project: Project; readonly signal: AbortSignal },
  hours: Sql,
): Promise<ReadonlyMap<string, unknown>> {
  const [heads, fingerprints] = await Promise.all([
    readHeads(engine, project, hours, signal),
    readFingerprints(engine, project, hours, { name: "ledger_fingerprints", signal }),
  ]);
  return currentHeads(heads, fingerprints);
}

/** Some groups at a time, by how many traces they have. */
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
