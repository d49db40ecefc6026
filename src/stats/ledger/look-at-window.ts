import { NO_ROWS } from "../../ledger/hour.ts";
import type { SettledHour } from "../../ledger/settled-hours.ts";
import type { Grain } from "../../ledger/settled-rows.ts";
import type { SpanningTraces } from "../../ledger/spanning-groups.ts";
import type { HourRange } from "../../query/index.ts";
import type { Project } from "../../shared/project.ts";
import { listOf, rangeOf, type LookMemory, type SomeHours } from "./look-memory.ts";

export interface WindowToLookAt {
  readonly project: Project;
  /** When its calls started. */
  readonly started: HourRange;
  readonly grains: readonly Grain[];
  readonly memory: LookMemory;
}

/** The hours of a window's calls: what the ledger has of them, and what tells whether it is true. */
export interface WindowLook {
  /** Those that have rows. */
  readonly hours: readonly number[];
  readonly known: readonly SettledHour[];
  /** Of these hours, and of others that `known` has: undefined where it was not read. */
  readonly fingerprintOf: (hour: number) => string | undefined;
  readonly spanning: SpanningTraces;
  /** The same, read again. */
  readonly spanningNow: () => Promise<SpanningTraces>;
}

/** Quarters of so many entries at most are read at once, if hours have as many of them. */
const MAX_ENTRIES = 100_000;

/**
 * Nearly all calls lie under the hours in which they started, so these are read at once, with those beside them, which
 * traces at the ends of the window lie under too. If calls lie elsewhere, their hours are read instead.
 */
export async function lookAtWindow(window: WindowToLookAt, signal: AbortSignal): Promise<WindowLook> {
  const { project, started, memory } = window;
  const beside = { from: started.from - 1, to: started.to + 1 };
  const options = { name: "ledger_fingerprints", signal };
  const [hours, look] = await Promise.all([
    memory.keyHours(project, started, { name: "ledger_key_hours", signal }),
    readLook(window, rangeOf(started), memory.fingerprints(project, rangeOf(beside), options), signal),
  ]);
  if (hours.every((hour) => isWithin(started, hour)))
    return lookOf(hours, look, (hour) => isWithin(beside, hour));
  const fingerprints = memory.fingerprints(project, listOf(hours), options);
  const read = new Set(hours);
  return lookOf(hours, await readLook(window, listOf(hours), fingerprints, signal), (hour) => read.has(hour));
}

interface Look extends Pick<WindowLook, "known" | "spanning" | "spanningNow"> {
  readonly fingerprints: ReadonlyMap<number, string>;
}

async function readLook(
  { project, started, grains, memory }: WindowToLookAt,
  hours: SomeHours,
  reading: Promise<ReadonlyMap<number, string>>,
  signal: AbortSignal,
): Promise<Look> {
  const quartersOf = grains.includes("quarters") ? Math.floor(MAX_ENTRIES / lengthOf(started)) : 0;
  const [known, fingerprints, spanning] = await Promise.all([
    memory.settled(project, { hours, grains, quartersOf }, signal),
    reading,
    memory.spanning(project, hours, { name: "ledger_spanning", signal }),
  ]);
  const spanningNow = (): Promise<SpanningTraces> =>
    memory.spanning(project, hours, { name: "ledger_compare", signal });
  return { known, fingerprints, spanning, spanningNow };
}

function lookOf(
  hours: readonly number[],
  { known, fingerprints, spanning, spanningNow }: Look,
  isRead: (hour: number) => boolean,
): WindowLook {
  const asked = new Set(hours);
  const fingerprintOf = (hour: number): string | undefined =>
    isRead(hour) ? (fingerprints.get(hour) ?? NO_ROWS) : undefined;
  return {
    hours: hours.filter((hour) => fingerprints.has(hour)),
    known: known.filter(({ hour }) => asked.has(hour)),
    fingerprintOf,
    spanning,
    spanningNow,
  };
}

function lengthOf({ from, to }: HourRange): number {
  return Math.max(1, to - from + 1);
}

function isWithin({ from, to }: HourRange, hour: number): boolean {
  return hour >= from && hour <= to;
}
