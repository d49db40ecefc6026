import type { Engine } from "../../store/engine.ts";
import { oneOf } from "../../ledger/hour.ts";
import { isCurrent, ofGrain, type SettledHour } from "../../ledger/settled-hours.ts";
import { groupKey, groupState, NO_SPANNING, placesOutside } from "../../ledger/spanning-groups.ts";
import { GRAINS } from "../../ledger/settled-rows.ts";
import { sql, type Sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import type { Selection } from "../../rollup/selection.ts";
import { countPerTrace, type CountedTrace } from "../../rollup/store.ts";
import { listOf, type LookMemory } from "./look-memory.ts";
import { lookAtWindow, type WindowLook, type WindowToLookAt } from "./look-at-window.ts";

/** A window: what settled hours come to, and the traces that must be folded. No call is in both, or in neither. */
export interface FoundHours<Cells> {
  readonly cells: Cells;
  readonly traces: readonly CountedTrace[];
}

interface Question<Cells> extends Omit<WindowToLookAt, "project"> {
  readonly selection: Selection;
  /** Reads settled hours. Undefined: they do not tell. */
  readonly read: (settled: readonly SettledHour[]) => Promise<Cells | undefined>;
  readonly signal: AbortSignal;
}

const MAX_ROUNDS = 3;

/**
 * Finds out what the ledger has of a window. Undefined: nothing, or writers change it faster than it can be compared.
 *
 * Every call under an hour that had rows when the fingerprints were read is in the hour's settlement, or in that of its trace's
 * group, or its trace is counted: the traces of the hours that are not settled, and of the groups that are not. Hours of groups
 * that were not read with the window's are compared while the entries are read, and the digests last, unless nothing is counted.
 * A trace that had calls under other hours when it was counted was noted under all of them before, so that a settlement which
 * has it does not match any more.
 */
export async function findSettled<Cells>(
  engine: Engine,
  { selection, read, signal, ...window }: Question<Cells>,
): Promise<FoundHours<Cells> | undefined> {
  const { project } = selection;
  const look = await lookAtWindow({ project, ...window }, signal);
  const { hours } = look;
  let possible = look.known.filter((one) => isCurrent(one, assumedFor(one, look)));
  let found = stillSettled(possible, look);
  for (let round = 0; round < MAX_ROUNDS && found.settled.length > 0; round++) {
    const { settled } = found;
    const within = toCount(project, found);
    const [cells, traces, elsewhere] = await Promise.all([
      read(settled),
      within === undefined ? [] : countPerTrace(engine, selection, signal, within),
      readElsewhere(project, { look, possible, memory: window.memory, signal }),
    ]);
    if (cells === undefined) return undefined;
    possible = possible.filter((one) => isCurrent(one, elsewhere));
    const spanning = within === undefined ? look.spanning : await look.spanningNow();
    found = stillSettled(possible, { hours, spanning });
    if (areSame(found.settled, settled)) return { cells, traces };
  }
  return undefined;
}

function areSame(some: readonly SettledHour[], others: readonly SettledHour[]): boolean {
  return some.length === others.length && some.every((one, place) => one === others[place]);
}

/** The hours of a group that have not been read have the fingerprints that it says, until they are compared too. */
function assumedFor(
  { hours, fingerprints }: SettledHour,
  { fingerprintOf }: WindowLook,
): ReadonlyMap<number, string> {
  return new Map(hours.map((hour, place) => [hour, fingerprintOf(hour) ?? fingerprints[place]!]));
}

/** The fingerprints of all hours of settlements, also of those far from the window that traces lie under too. */
async function readElsewhere(
  project: Project,
  found: {
    readonly look: WindowLook;
    readonly possible: readonly SettledHour[];
    readonly memory: LookMemory;
    readonly signal: AbortSignal;
  },
): Promise<ReadonlyMap<number, string>> {
  const { look, possible, memory, signal } = found;
  const all = [...new Set(possible.flatMap(({ hours }) => hours))];
  const [known, others] = [new Map<number, string>(), new Set<number>()];
  for (const hour of all) {
    const fingerprint = look.fingerprintOf(hour);
    if (fingerprint === undefined) others.add(hour);
    else known.set(hour, fingerprint);
  }
  if (others.size === 0) return known;
  const options = { name: "ledger_fingerprints_outside", signal };
  return new Map([...known, ...(await memory.fingerprints(project, listOf([...others]), options))]);
}

interface Found {
  readonly settled: readonly SettledHour[];
  /** Hours that are not settled; and those with spanning traces that are not. */
  readonly live: readonly number[];
  readonly withLiveGroups: readonly number[];
  /** Groups that are settled in all their hours of the window, by their keys. */
  readonly groupKeys: readonly string[];
}

/** What of some settlements, which match the rows of their hours, matches the spanning traces too. */
function stillSettled(
  known: readonly SettledHour[],
  { hours: window, spanning }: Pick<WindowLook, "hours" | "spanning">,
): Found {
  const own = known.filter(
    ({ grain, hour, spanning: digest }) =>
      grain !== GRAINS.spanning && (spanning.digests.get(hour) ?? NO_SPANNING) === digest,
  );
  const settledHours = new Set(own.map(({ hour }) => hour));
  const live = window.filter((hour) => !settledHours.has(hour));
  const inWindow = new Set(window);
  const parts = Map.groupBy(ofGrain(known, "spanning"), ({ hours, spanning: digest }) =>
    groupState({ hours, digest }),
  );
  const settled = [...own];
  const groupKeys: string[] = [];
  const withLiveGroups = new Set(spanning.hoursOfLong.filter((hour) => inWindow.has(hour)));
  for (const group of spanning.groups) {
    const hours = group.hours.filter((hour) => inWindow.has(hour));
    if (hours.length === 0) continue;
    const ofHour = new Map(parts.get(groupState(group))?.map((part) => [part.hour, part]));
    if (hours.every((hour) => settledHours.has(hour) && ofHour.has(hour))) {
      settled.push(...hours.map((hour) => ofHour.get(hour)!));
      groupKeys.push(groupKey(group.hours));
    } else for (const hour of hours) withLiveGroups.add(hour);
  }
  return { settled, live, withLiveGroups: [...withLiveGroups], groupKeys };
}

/** A condition: all calls of the traces that are not settled. Undefined: all are. */
function toCount(project: Project, { live, withLiveGroups, groupKeys }: Found): Sql | undefined {
  if (live.length === 0 && withLiveGroups.length === 0) return undefined;
  const places = placesOutside(project, oneOf([...live, ...withLiveGroups]), groupKeys);
  return sql`(${oneOf(live)} OR (hour, trace_id) IN ${places})`;
}
