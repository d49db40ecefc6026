import type { Engine } from "../clickhouse/engine.ts";
import type { StatsPlan } from "./plan.ts";
import type { StatsRow } from "./statement.ts";

/** The rows of a plan's statement; none when the window has no buckets. Errors: `StorageError`. */
export async function readStats(
  engine: Engine,
  { statement }: StatsPlan,
  signal: AbortSignal,
): Promise<readonly StatsRow[]> {
  return statement === undefined ? [] : engine.rows<StatsRow>(statement, { name: "feedback_stats", signal });
}
