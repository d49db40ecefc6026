import type { Engine, QueryOptions } from "../../store/engine.ts";
import { StorageError } from "../../store/storage-error.ts";
import type { Sql } from "../../query/sql.ts";
import { AppError } from "../../shared/errors.ts";
import type { PathRow } from "./paths.ts";
import type { StatsPlan } from "./plan.ts";
import type { StatsRow } from "./statement.ts";

const NARROWER = "Ask for a shorter window, fewer metrics or fewer percentiles.";

/** The rows of a plan's statement; none when the window has no buckets. Errors: as `read`. */
export function readStats(
  engine: Engine,
  { statement }: StatsPlan,
  signal: AbortSignal,
): Promise<readonly StatsRow[]> {
  return statement === undefined
    ? Promise.resolve([])
    : read(engine, statement, { name: "feedback_stats", signal });
}

/** The paths of a sample, one more than `MAX_PATHS` when there are more. Errors: as `read`. */
export function readPaths(engine: Engine, statement: Sql, signal: AbortSignal): Promise<readonly PathRow[]> {
  return read(engine, statement, { name: "feedback_paths", signal });
}

/** Errors: `StorageError`; query_timeout and query_memory, with a hint that fits. */
async function read<Row>(engine: Engine, statement: Sql, options: QueryOptions): Promise<readonly Row[]> {
  try {
    return await engine.rows<Row>(statement, options);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    if (error.kind === "timeout") {
      throw new AppError("query_timeout", `The question took too long. ${NARROWER}`, { cause: error });
    }
    if (error.kind === "memory") {
      throw new AppError("query_memory", `The question took too much memory. ${NARROWER}`, { cause: error });
    }
    throw error;
  }
}
