import type { Clock } from "../shared/clock.ts";
import { createSingleFlight } from "./cluster/replicas/single-flight.ts";
import type { Engine, QueryOptions } from "./engine.ts";
import { compareMigrations, type StoreMigrations } from "./schema/migrate.ts";
import { StorageError } from "./storage-error.ts";

export interface MigrationGuard {
  /** Engine whose writes throw `StorageError` "outdated" once a newer version has migrated the store. */
  readonly engine: Engine;
  /** Compares now. Throws `StorageError`. */
  readonly compare: () => Promise<StoreMigrations>;
}

interface GuardOptions {
  readonly clock: Clock;
  /** Called once, with the migrations unknown to this version. */
  readonly onNewer: (unknown: readonly string[]) => void;
}

/** Validity of a comparison; longer than the interval of periodic comparisons. */
const VALID_FOR_MS = 120_000;

/**
 * Compares the store's migrations with those of this version: on `compare`, and before a write if the last comparison is
 * older than `VALID_FOR_MS`, as after the process was suspended. Queries are never rejected.
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
  // a comparison that was running during a suspension does not count
  const comparisons = createSingleFlight(compare);
  const compareNow = (): Promise<StoreMigrations> => comparisons.after("schema_migrations");
  // the wall clock runs during suspension; it may be set back
  const isOld = (): boolean => Math.abs(clock.now() - comparedMs) > VALID_FOR_MS;
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
