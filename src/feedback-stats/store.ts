import type { Engine } from "../clickhouse/engine.ts";
import { StorageError } from "../clickhouse/storage-error.ts";
import { AppError } from "../shared/errors.ts";
import type { StatsPlan } from "./plan.ts";
import type { StatsRow } from "./statement.ts";

const NARROWER = "Ask for a shorter window, fewer metrics or fewer percentiles.";

/** The rows of a plan's statement; none when the window has no buckets. Errors: `StorageError`, query_timeout, query_memory. */
export async function readStats(
  engine: Engine,
  { statement }: StatsPlan,
  signal: AbortSignal,
): Promise<readonly StatsRow[]> {
  if (statement === undefined) return [];
  try {
    return await engine.rows<StatsRow>(statement, { name: "feedback_stats", signal });
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    if (error.kind === "timeout") {
      throw new AppError("query_timeout", `The statistics took too long. ${NARROWER}`, { cause: error });
    }
    if (error.kind === "memory") {
      throw new AppError("query_memory", `The statistics took too much memory. ${NARROWER}`, {
        cause: error,
      });
    }
    throw error;
  }
}
