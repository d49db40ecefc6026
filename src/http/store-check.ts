import { missingMigrations } from "../store/schema/migrate.ts";
import type { Engine, StoreHealth } from "../store/engine.ts";
import { isOlder, MIN_SERVER_VERSION } from "../store/transport/server-version.ts";
import type { Clock } from "../shared/clock.ts";

const NOT_REACHABLE = "Store unreachable.";
const KNOWN_FOR_MS = 1000;

export type CheckedStore = Pick<Engine, "health" | "version" | "rows">;

/** Creates a check of read and write access. Concurrent calls share one statement; results are cached for a second. */
export function createStoreCheck(store: CheckedStore, steady: Clock): () => Promise<StoreHealth> {
  let known: Promise<StoreHealth> | undefined;
  let until = Infinity;
  return () => {
    if (known === undefined || steady.now() >= until) {
      until = Infinity;
      known = check(store).finally(() => {
        until = steady.now() + KNOWN_FOR_MS;
      });
    }
    return known;
  };
}

async function check(store: CheckedStore): Promise<StoreHealth> {
  try {
    const health = await store.health();
    if (health.reads !== undefined) return neither(NOT_REACHABLE);
    const version = await store.version();
    if (isOlder(version)) return neither(`ClickHouse is older than ${MIN_SERVER_VERSION}.`);
    const missing = await missingMigrations(store);
    if (missing.length > 0) return neither("Migrations are missing: run `npm run migrate`.");
    return { reads: undefined, writes: health.writes && `The store cannot be written to: ${health.writes}.` };
  } catch {
    return neither(NOT_REACHABLE);
  }
}

function neither(problem: string): StoreHealth {
  return { reads: problem, writes: problem };
}
