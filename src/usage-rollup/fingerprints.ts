import type { Engine } from "../store/engine.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { HourSpan } from "./hour-span.ts";

/**
 * The fingerprints of a project's hours: of each hour the sum of its rows' random numbers, modulo 2^64, which changes with every
 * row that is stored or deleted. Hours without rows have 0.
 */
export class Fingerprints {
  /** The hours that have rows, ascending. */
  readonly hours: readonly number[];
  /** The sum over the hours before each of them, and over all. */
  readonly #before: readonly bigint[];

  constructor(ofHours: ReadonlyMap<number, bigint>) {
    const ascending = [...ofHours].toSorted(([one], [other]) => one - other);
    const before = [0n];
    for (const [, fingerprint] of ascending) before.push(before.at(-1)! + fingerprint);
    this.hours = ascending.map(([hour]) => hour);
    this.#before = before;
  }

  /** Of all the hours of a group together. */
  of({ first, last }: HourSpan): string {
    return String(BigInt.asUintN(64, this.#sumBefore(last + 1) - this.#sumBefore(first)));
  }

  #sumBefore(hour: number): bigint {
    let [low, high] = [0, this.hours.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.hours[middle]! < hour) low = middle + 1;
      else high = middle;
    }
    return this.#before[low]!;
  }
}

/**
 * What `calls` holds now under some hours. `hours`: a condition on `hour`. It is read of the projection `hour_fingerprints`, unless a deletion
 * waits; then of the rows, which lie in the order of hours.
 */
export async function readFingerprints(
  engine: Pick<Engine, "rows">,
  project: Project,
  hours: Sql,
  options: { readonly name: string; readonly signal?: AbortSignal },
): Promise<Fingerprints> {
  const rows = await engine.rows<{ hour: number; found: string }>(
    sql`SELECT hour, toString(sum(fingerprint)) AS found FROM calls
        PREWHERE project_id = ${param("String", project)} AND ${hours} GROUP BY hour
        SETTINGS optimize_aggregation_in_order = 1`,
    { ...options, limits: "heavy" },
  );
  return new Fingerprints(new Map(rows.map((row) => [row.hour, BigInt(row.found)])));
}
