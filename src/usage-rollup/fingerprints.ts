import type { Engine } from "../store/engine.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { HourSpan } from "./hours.ts";

/**
 * Fingerprints of a project's hours: per hour the sum of its rows' random numbers modulo 2^64, which changes whenever a row
 * is stored or deleted; 0 without rows.
 */
export class Fingerprints {
  /** Hours that have rows, ascending. */
  readonly hours: readonly number[];
  /** Prefix sums over `hours`; the last one is the total. */
  readonly #before: readonly bigint[];

  constructor(ofHours: ReadonlyMap<number, bigint>) {
    const ascending = [...ofHours].toSorted(([a], [b]) => a - b);
    const before = [0n];
    for (const [, fingerprint] of ascending) before.push(before.at(-1)! + fingerprint);
    this.hours = ascending.map(([hour]) => hour);
    this.#before = before;
  }

  /** Sums the fingerprints of a span's hours. O(log hours). */
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
 * Reads the current fingerprints of `calls` where `hours`, a condition on `hour`, holds. Uses the projection
 * `hour_fingerprints` unless a deletion is pending; then reads the rows, which are sorted by hour.
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
    { ...options, limits: "heavy", dependsOn: ["calls"] },
  );
  return new Fingerprints(new Map(rows.map((row) => [row.hour, BigInt(row.found)])));
}
