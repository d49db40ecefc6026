import type { Engine, QueryOptions } from "../../store/engine.ts";
import { StorageError } from "../../store/storage-error.ts";
import type { Sql } from "../../query/sql.ts";
import { AppError } from "../../shared/errors.ts";
import type { PathRow } from "./paths.ts";
import type { StatsPlan } from "./plan.ts";
import type { StatsRow } from "./statement.ts";

const REMEDY = "Request a shorter window, fewer metrics or fewer percentiles.";

/** Reads the rows of a plan; none if the window has no buckets. Errors: as `read`. */
export function readStats(
  engine: Engine,
  { statement }: StatsPlan,
  signal: AbortSignal,
): Promise<readonly StatsRow[]> {
  return statement === undefined
    ? Promise.resolve([])
    : read(engine, statement, { name: "feedback_stats", signal });
}

/** Reads the paths of a sample; `MAX_PATHS` + 1 if there are more. Errors: as `read`. */
export function readPaths(engine: Engine, statement: Sql, signal: AbortSignal): Promise<readonly PathRow[]> {
  return read(engine, statement, { name: "feedback_paths", signal });
}

/** Runs a statement. Errors: `StorageError`; query_timeout and query_memory, with a remedy. */
async function read<Row>(engine: Engine, statement: Sql, options: QueryOptions): Promise<readonly Row[]> {
  try {
    return await engine.rows<Row>(statement, options);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    if (error.kind === "timeout") {
      throw new AppError("query_timeout", `The query exceeded its time limit. ${REMEDY}`, { cause: error });
    }
    if (error.kind === "memory") {
      throw new AppError("query_memory", `The query exceeded its memory limit. ${REMEDY}`, { cause: error });
    }
    throw error;
  }
}
