import type { Engine } from "../engine.ts";
import { NOT_CURRENT, StorageError } from "../storage-error.ts";
import type { Progress } from "./progress.ts";

/** Servers and tables that were just started take writes after a few seconds. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 200;
/** TABLE_IS_READ_ONLY, TOO_FEW_LIVE_REPLICAS */
const STARTING = new Set(["242", "285", NOT_CURRENT]);

/** The same engine, but writes and reads that must be current wait until a cluster's servers accept them. Writes must be safe to repeat. */
export function retryingEngine(engine: Engine, progress: Progress): Engine {
  const insist = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    const giveUpMs = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await run();
      } catch (error) {
        if (!isTransient(error) || performance.now() > giveUpMs) throw error;
        const { reads, writes } = await engine.health();
        progress.waits(reads ?? writes ?? error.message);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  };
  return {
    ...engine,
    rows: (query, options) =>
      options.requireCurrent === true
        ? insist(() => engine.rows(query, options))
        : engine.rows(query, options),
    command: (statement, options) => insist(() => engine.command(statement, options)),
    insert: (table, rows, options) => insist(() => engine.insert(table, rows, options)),
  };
}

/** A refusal by what is known of the servers has no code of the engine. */
function isTransient(error: unknown): error is StorageError {
  if (!(error instanceof StorageError)) return false;
  const { kind, engineCode } = error;
  return engineCode === undefined ? kind === "read_only" || kind === "unavailable" : STARTING.has(engineCode);
}
