import type { Clock } from "../shared/clock.ts";
import { createSingleFlight } from "./cluster/replicas/single-flight.ts";
import type { Engine, QueryOptions } from "./engine.ts";
import { compareMigrations, type StoreMigrations } from "./schema/migrate.ts";
import { StorageError } from "./storage-error.ts";

export interface MigrationGuard {
  /** The engine, whose writes reject with a `StorageError` "outdated" once a newer version has migrated the store. */
  readonly engine: Engine;
  /** Compares now. Errors: `StorageError`. */
  readonly compare: () => Promise<StoreMigrations>;
}

interface GuardOptions {
  readonly clock: Clock;
  /** Called once, with the migrations that this version does not know. */
  readonly onNewer: (unknown: readonly string[]) => void;
}

/** How long a comparison counts: longer than from one periodic comparison to the next. */
const COUNTS_FOR_MS = 120_000;

/**
 * Compares the store's migrations with those of this version: whenever `compare` is called, and before a write if that was long
 * ago, as after the process was suspended. Queries are never refused.
 */
export function guardMigrations(engine: Engine, { clock, onNewer }: GuardOptions): MigrationGuard {
  let comparedMs = -Infinity;
  let isOutdated = false;

  const compare = async (): Promise<StoreMigrations> => {
    const beganMs = clock.now();
    const migrations = await compareMigrations(engine);
    comparedMs = beganMs;
    if (migrations.unknown.length > 0 && !isOutdated) {
      isOutdated = true;
      onNewer(migrations.unknown);
    }
    return migrations;
  };
  // one that was under way during a pause does not count
  const comparisons = createSingleFlight(compare);
  const compareNow = (): Promise<StoreMigrations> => comparisons.after("schema_migrations");
  // the wall clock also runs while the machine is suspended; it may be set back
  const isOld = (): boolean => Math.abs(clock.now() - comparedMs) > COUNTS_FOR_MS;
  const write = async (options: QueryOptions, run: () => Promise<void>): Promise<void> => {
    if (isOld()) await compareNow();
    if (isOutdated)
      throw new StorageError(
        "outdated",
        options.name,
        undefined,
        "the store has migrations of a newer version",
      );
    return run();
  };

  return {
    engine: {
      ...engine,
      command: (statement, options) => write(options, () => engine.command(statement, options)),
      insert: (table, rows, options) => write(options, () => engine.insert(table, rows, options)),
    },
    compare: compareNow,
  };
}
