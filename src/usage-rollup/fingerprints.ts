import { param, sql, type Sql } from "../query/sql.ts";
import { hoursIn, type HourSpan, type Reading } from "./hours.ts";

/**
 * Fingerprints of a project's hours: per hour the sum of its rows' random numbers modulo 2^64, which changes whenever a row
 * is stored or deleted; 0 without rows.
 */
export class Fingerprints {
  readonly #ofHours: ReadonlyMap<number, bigint>;

  constructor(ofHours: ReadonlyMap<number, bigint>) {
    this.#ofHours = ofHours;
  }

  hasRows(hour: number): boolean {
    return this.#ofHours.has(hour);
  }

  /** Sums the fingerprints of a span's hours. */
  of(span: HourSpan): string {
    const sum = hoursIn(span).reduce((total, hour) => total + (this.#ofHours.get(hour) ?? 0n), 0n);
    return String(BigInt.asUintN(64, sum));
  }
}

/**
 * Reads the current fingerprints of `calls` where `hours`, a condition on `hour`, holds. Uses the projection
 * `hour_fingerprints` unless a deletion is pending; then reads the rows, which are sorted by hour.
 */
export async function readFingerprints(
  { engine, project, signal }: Reading,
  hours: Sql,
  name = "usage_rollup_fingerprints",
): Promise<Fingerprints> {
  const rows = await engine.rows<{ hour: number; found: string }>(
    sql`SELECT hour, toString(sum(fingerprint)) AS found FROM calls
        PREWHERE project_id = ${param("String", project)} AND ${hours} GROUP BY hour
        SETTINGS optimize_aggregation_in_order = 1`,
    { name, limits: "heavy", dependsOn: ["calls"], signal },
  );
  return new Fingerprints(new Map(rows.map((row) => [row.hour, BigInt(row.found)])));
}
