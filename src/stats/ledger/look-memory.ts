import type { Engine } from "../../store/engine.ts";
import { TableMemory } from "../../store/table-memory.ts";
import { oneOf, readFingerprints, readKeyHours, within } from "../../ledger/hour.ts";
import { readSettled, type SettledHour } from "../../ledger/settled-hours.ts";
import type { Grain } from "../../ledger/settled-rows.ts";
import { readSpanning, type SpanningTraces } from "../../ledger/spanning-groups.ts";
import type { HourRange } from "../../query/index.ts";
import type { Sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";

/** Some hours: a condition on `hour`, and its text. */
export interface SomeHours {
  readonly key: string;
  readonly condition: Sql;
}

export function rangeOf(range: HourRange): SomeHours {
  return { key: `${range.from}-${range.to}`, condition: within(range) };
}

export function listOf(hours: readonly number[]): SomeHours {
  return { key: hours.join(), condition: oneOf(hours) };
}

export interface SettledToLookUp {
  readonly hours: SomeHours;
  readonly grains: readonly Grain[];
  readonly quartersOf: number;
}

interface Options {
  readonly name: string;
  readonly signal: AbortSignal;
}

/** About as many bytes. */
const OF_ANY = 500;
const MAX_SETTLED = 32_000_000;
const MAX_SPANNING = 8_000_000;

/**
 * What a window's question reads. What the ledger has is remembered as long as nobody changes it: on the embedded store these
 * tables are seldom written, while calls come in all the time. Other stores are asked each time.
 *
 * The hours of spanning traces hold as long as `spanning_traces` does, though `trace_hours` has them: a trace that comes to lie
 * under another hour is noted in both before any of its calls is written there.
 */
export class LookMemory {
  readonly #engine: Engine;
  readonly #settled: TableMemory<readonly SettledHour[]>;
  readonly #spanning: TableMemory<SpanningTraces>;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#settled = new TableMemory(engine, "usage_hours", MAX_SETTLED, bytesOfSettled);
    this.#spanning = new TableMemory(engine, "spanning_traces", MAX_SPANNING, bytesOfSpanning);
  }

  /** The hours under which those calls lie that started in some hours. */
  keyHours(project: Project, range: HourRange, options: Options): Promise<readonly number[]> {
    return readKeyHours(this.#engine, project, range, options);
  }

  /** See `readFingerprints`. */
  fingerprints(project: Project, hours: SomeHours, options: Options): Promise<ReadonlyMap<number, string>> {
    return readFingerprints(this.#engine, project, hours.condition, options);
  }

  /** See `readSettled`. */
  settled(
    project: Project,
    { hours, grains, quartersOf }: SettledToLookUp,
    signal: AbortSignal,
  ): Promise<readonly SettledHour[]> {
    const asked = { window: hours.condition, grains, quartersOf };
    return this.#settled.read(`${grains.join()} ${quartersOf} ${hours.key} ${project}`, () =>
      readSettled(this.#engine, project, asked, signal),
    );
  }

  /** See `readSpanning`. */
  spanning(project: Project, hours: SomeHours, options: Options): Promise<SpanningTraces> {
    return this.#spanning.read(`${hours.key} ${project}`, () =>
      readSpanning(this.#engine, project, hours.condition, options),
    );
  }
}

function bytesOfSettled(settled: readonly SettledHour[], key: string): number {
  return settled.reduce((sum, one) => {
    const served = one.served.reduce((all, text) => all + text.length + 40, 0);
    return sum + 400 + 60 * one.hours.length + served + (one.quarters?.length ?? 0);
  }, OF_ANY + key.length);
}

function bytesOfSpanning({ groups, digests, hoursOfLong }: SpanningTraces, key: string): number {
  const ofGroups = groups.reduce((sum, { hours }) => sum + 200 + 8 * hours.length, 0);
  return OF_ANY + key.length + ofGroups + 100 * digests.size + 8 * hoursOfLong.length;
}
