import type { Engine } from "../engine.ts";
import { NOT_CURRENT, StorageError } from "../storage-error.ts";
import type { Progress } from "./progress.ts";

/** Servers and tables accept writes a few seconds after their start. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 200;
/** TABLE_IS_READ_ONLY, TOO_FEW_LIVE_REPLICAS */
const STARTING = new Set(["242", "285", NOT_CURRENT]);

/** Wraps an engine to retry writes and `requireCurrent` reads for 30 s while servers start. Writes must be idempotent. */
export function retryingEngine(engine: Engine, progress: Progress): Engine {
  const retry = async <Result>(run: () => Promise<Result>): Promise<Result> => {
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
        ? retry(() => engine.rows(query, options))
        : engine.rows(query, options),
    command: (statement, options) => retry(() => engine.command(statement, options)),
    insert: (table, rows, options) => retry(() => engine.insert(table, rows, options)),
  };
}

/** True for errors of starting servers. Rejections by the replica watch have no engine code. */
function isTransient(error: unknown): error is StorageError {
  if (!(error instanceof StorageError)) return false;
  const { kind, engineCode } = error;
  return engineCode === undefined ? kind === "read_only" || kind === "unavailable" : STARTING.has(engineCode);
}
