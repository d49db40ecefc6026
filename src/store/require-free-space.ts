import { setTimeout as delay } from "node:timers/promises";
import type { Engine } from "./engine.ts";
import { StorageError } from "./storage-error.ts";

/** Tables of administrative writes: small and idempotent. */
const TABLES = "api_keys audit budget_alerts budgets deletions llm_prices retention".split(" ");
const MAX_TRIES = 100;
const PAUSE_MS = 100;

/** Retries administrative inserts without disk space: running merges and mutations may reserve all free space. */
export function retryWithoutSpace(engine: Engine): Engine {
  const insert: Engine["insert"] = async (table, rows, options) => {
    for (let left = TABLES.includes(table) ? MAX_TRIES : 1; ; left--) {
      try {
        return await engine.insert(table, rows, options);
      } catch (error) {
        if (left === 1 || !(error instanceof StorageError && error.kind === "no_space")) throw error;
        await delay(PAUSE_MS);
      }
    }
  };
  return { ...engine, insert };
}
