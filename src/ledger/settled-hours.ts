import type { Engine } from "../store/engine.ts";
import { param, sql, trusted, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { NO_ROWS } from "./hour.ts";
import { GRAINS, VERSION, type Grain } from "./settled-rows.ts";

/** What the ledger has of an hour in one settlement. It is true only if it `isCurrent` and `spanning` is the digest now. */
export interface SettledHour {
  readonly grain: number;
  readonly hour: number;
  readonly settlement: string;
  /** The hours that the traces lie under, and the fingerprints of these. */
  readonly hours: readonly number[];
  readonly fingerprints: readonly string[];
  /** The digest of the spanning traces that are left out; of a group that of its traces. */
  readonly spanning: string;
  readonly entries: number;
  /** When its first and last call started, in microseconds since the epoch; 0 without calls. */
  readonly first_at: number;
  readonly last_at: number;
  /** `[llm, provider, tier, 1 if some have details, no input is larger]` as JSON. */
  readonly served: readonly string[];
  /** What its calls come to by quarters of an hour, see `packQuarters`. Null: not read. */
  readonly quarters: string | null;
}

type Row = SettledHour & {
  readonly piece: number;
  readonly pieces: number;
  readonly settled_at: string;
};

export interface SettledToRead {
  /** A condition on `hour`. */
  readonly window: Sql;
  readonly grains: readonly Grain[];
  /** Quarters of rows with no more entries are read too. Default: none. */
  readonly quartersOf?: number;
}

/**
 * Settlements that are there with all their pieces, each once, the latest last. Nearly all rows have the version, so that looking
 * at it before the other columns are read would only take a quarter more.
 */
export async function readSettled(
  engine: Engine,
  project: Project,
  { window, grains, quartersOf = 0 }: SettledToRead,
  signal: AbortSignal,
): Promise<readonly SettledHour[]> {
  const asked = grains.map((grain) => GRAINS[grain]);
  const rows = await engine.rows<Row>(
    sql`SELECT grain, hour, settlement, hours, arrayMap(one -> toString(one), fingerprints) AS fingerprints,
          toString(spanning) AS spanning, entries, first_at, last_at, served, piece, pieces, settled_at,
          if(entries BETWEEN 1 AND ${param("Int64", quartersOf)}, quarters, NULL) AS quarters
        FROM usage_hours
        WHERE project_id = ${param("String", project)} AND grain IN (${trusted(asked.join(", "))}) AND ${window}
          AND version = ${param("UInt32", VERSION)}
        SETTINGS optimize_move_to_prewhere = 0`,
    { name: "ledger_find", limits: "heavy", signal },
  );
  const pieces = Map.groupBy(rows, settlementKey);
  return [...pieces.values()].filter(areAll).sort(inOrder).map(together);
}

/** A settlement of an hour as one text. */
export function settlementKey(of: Pick<SettledHour, "grain" | "hour" | "settlement">): string {
  return `${of.grain} ${of.hour} ${of.settlement}`;
}

function areAll(rows: readonly Row[]): boolean {
  const { pieces } = rows[0]!;
  return rows.length === pieces && new Set(rows.map(({ piece }) => piece)).size === pieces;
}

function inOrder([one]: readonly Row[], [other]: readonly Row[]): number {
  const [a, b] = [`${one!.settled_at} ${one!.settlement}`, `${other!.settled_at} ${other!.settlement}`];
  return a < b ? -1 : Number(a > b);
}

function together(rows: readonly Row[]): SettledHour {
  const { grain, hour, settlement, hours, fingerprints, spanning, quarters } = rows[0]!;
  const used = rows.filter(({ entries }) => entries > 0);
  return {
    grain,
    hour,
    settlement,
    hours,
    fingerprints,
    spanning,
    entries: used.reduce((sum, row) => sum + row.entries, 0),
    first_at: used.length === 0 ? 0 : used.reduce((first, row) => Math.min(first, row.first_at), Infinity),
    last_at: used.reduce((last, row) => Math.max(last, row.last_at), used.length === 0 ? 0 : -Infinity),
    served: [...new Set(used.flatMap((row) => row.served))],
    quarters,
  };
}

/** Whether it is of the rows that its hours have now. `current`: the fingerprints of hours that have rows. */
export function isCurrent(
  { hours, fingerprints }: Pick<SettledHour, "hours" | "fingerprints">,
  current: ReadonlyMap<number, string>,
): boolean {
  return hours.every((hour, place) => (current.get(hour) ?? NO_ROWS) === fingerprints[place]);
}

export function ofGrain(hours: readonly SettledHour[], grain: Grain): readonly SettledHour[] {
  return hours.filter((hour) => hour.grain === GRAINS[grain]);
}
