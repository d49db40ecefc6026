import type { Engine } from "../clickhouse/engine.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { GRAINS, VERSION } from "./settled-rows.ts";

/** What the ledger has of an hour in one settlement. It is true only if both fingerprints are those of the hour now. */
export interface SettledHour {
  readonly grain: number;
  readonly hour: number;
  readonly settlement: string;
  readonly fingerprint: string;
  readonly spanning: string;
  readonly entries: number;
  /** How many of its rows have entries. */
  readonly heads: number;
  /** When its first and last call started, in microseconds since the epoch; 0 without calls. */
  readonly first_at: number;
  readonly last_at: number;
  /** `[llm, provider, tier]` as JSON. */
  readonly served: readonly string[];
}

/** Settlements that are there with all their pieces, each once, the latest last. `window`: a condition on `hour`. */
export function readSettled(
  engine: Engine,
  project: Project,
  window: Sql,
  options: { readonly name: string; readonly signal?: AbortSignal },
): Promise<readonly SettledHour[]> {
  return engine.rows<SettledHour>(
    sql`SELECT grain, hour, settlement, toString(fingerprint) AS fingerprint, toString(spanning) AS spanning,
          sum(usage_hours.entries) AS entries, countIf(usage_hours.entries > 0) AS heads, 
          minIf(usage_hours.first_at, usage_hours.entries > 0) AS first_at, maxIf(usage_hours.last_at, usage_hours.entries > 0) AS last_at,
          groupUniqArrayArray(served) AS served
        FROM usage_hours
        WHERE project_id = ${param("String", project)} AND version = ${param("UInt32", VERSION)} AND ${window}
        GROUP BY grain, hour, settlement, usage_hours.fingerprint, usage_hours.spanning
        HAVING count() = any(pieces) AND uniqExact(piece) = any(pieces)
        ORDER BY max(settled_at), settlement`,
    { ...options, limits: "heavy" },
  );
}

export function ofGrain(hours: readonly SettledHour[], grain: keyof typeof GRAINS): readonly SettledHour[] {
  return hours.filter((hour) => hour.grain === GRAINS[grain]);
}
