import type { Engine } from "../store/engine.ts";
import type { HourRange } from "../query/index.ts";
import type { Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { Look } from "./find-settled.ts";
import { readFingerprints } from "./fingerprints.ts";
import { MAX_HOURS } from "./group.ts";
import { readHeads } from "./heads.ts";
import { oneOf, readKeyHours, within } from "./hour.ts";
import { readSpanning, type SpanningUnderHour } from "./spanning.ts";

export interface WindowLook extends Look {
  /** The spanning traces as they are now. */
  readonly readSpanningAgain: () => Promise<readonly SpanningUnderHour[]>;
}

/**
 * Looks at the hours of the calls that started in some hours. Nearly all calls lie under the hours in which they started, so
 * these are looked at while it is read which they are, and looked at again only if there are others.
 */
export async function lookAtWindow(
  engine: Engine,
  project: Project,
  started: HourRange,
  signal: AbortSignal,
): Promise<WindowLook> {
  const beside = { from: started.from - MAX_HOURS, to: started.to + MAX_HOURS };
  const reading = { engine, project, signal };
  const [hours, look] = await Promise.all([
    readKeyHours(engine, project, started, { name: "ledger_key_hours", signal }),
    lookAt(reading, within(started), within(beside)),
  ]);
  if (hours.every((hour) => hour >= started.from && hour <= started.to)) return withRows(hours, look);
  const besideEach = new Set(hours.flatMap((hour) => range(hour - MAX_HOURS, hour + MAX_HOURS)));
  return withRows(hours, await lookAt(reading, oneOf(hours), oneOf([...besideEach])));
}

/** Looks at some hours that calls lie under, whenever they started. */
export async function lookAtHours(
  engine: Engine,
  project: Project,
  hours: HourRange,
  signal: AbortSignal,
): Promise<Look> {
  const beside = { from: hours.from - MAX_HOURS, to: hours.to + MAX_HOURS };
  const look = await lookAt({ engine, project, signal }, within(hours), within(beside));
  return { ...look, hours: look.fingerprints.hours.filter((hour) => hour >= hours.from && hour <= hours.to) };
}

interface Reading {
  readonly engine: Engine;
  readonly project: Project;
  readonly signal: AbortSignal;
}

/** `hours`, `beside`: conditions on `hour`; the second is true of all hours of groups that lie under the first. */
async function lookAt(
  { engine, project, signal }: Reading,
  hours: Sql,
  beside: Sql,
): Promise<Omit<WindowLook, "hours">> {
  const readSpanningAgain = (): Promise<readonly SpanningUnderHour[]> =>
    readSpanning(engine, project, hours, { name: "ledger_compare", signal });
  const [heads, fingerprints, spanning] = await Promise.all([
    readHeads(engine, project, hours, signal),
    readFingerprints(engine, project, beside, { name: "ledger_fingerprints", signal }),
    readSpanning(engine, project, hours, { name: "ledger_spanning", signal }),
  ]);
  return { heads, fingerprints, spanning, readSpanningAgain };
}

function withRows(hours: readonly number[], look: Omit<WindowLook, "hours">): WindowLook {
  const stored = new Set(look.fingerprints.hours);
  return { ...look, hours: hours.filter((hour) => stored.has(hour)) };
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, place) => from + place);
}
