import { pendingMigrations } from "../store/schema/migrate.ts";
import type { Engine, StoreHealth } from "../store/engine.ts";
import { isOlder, MIN_SERVER_VERSION } from "../store/transport/server-version.ts";
import type { Clock } from "../shared/clock.ts";

const NOT_REACHABLE = "The store is not reachable.";
const KNOWN_FOR_MS = 1000;

/**
 * Whether reads and writes can succeed. However many ask, the store is asked once at a time, and not again within a second
 * of its answer.
 */
export function createStoreCheck(engine: Engine, steady: Clock): () => Promise<StoreHealth> {
  let known: Promise<StoreHealth> | undefined;
  let until = Infinity;
  return () => {
    if (known === undefined || steady.now() >= until) {
      until = Infinity;
      known = check(engine).finally(() => {
        until = steady.now() + KNOWN_FOR_MS;
      });
    }
    return known;
  };
}

async function check(engine: Engine): Promise<StoreHealth> {
  try {
    const health = await engine.health();
    if (health.reads !== undefined) return neither(NOT_REACHABLE);
    const version = await engine.version();
    if (isOlder(version)) return neither(`ClickHouse is older than ${MIN_SERVER_VERSION}.`);
    const pending = await pendingMigrations(engine);
    if (pending.length > 0) return neither("Migrations are missing: run `npm run migrate`.");
    const { writes } = health;
    return { reads: undefined, writes: writes && `The store cannot be written to: ${writes}.` };
  } catch {
    return neither(NOT_REACHABLE);
  }
}

function neither(problem: string): StoreHealth {
  return { reads: problem, writes: problem };
}
