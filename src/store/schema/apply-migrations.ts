import { trusted } from "../../query/sql.ts";
import type { Engine } from "../engine.ts";
import { checksumOf, FIRST, statementsOf, type Migration } from "./migrations.ts";
import { StorageError } from "../storage-error.ts";
import { refuseOlder } from "./refuse-older.ts";

interface Work {
  readonly cluster: string | undefined;
  /** In their order. */
  readonly missing: readonly Migration[];
  /** Of the store, when they are applied. */
  readonly version: number;
}

/**
 * Carries out migrations, by as many starts at once as there are. Older versions write nothing from the first later step on; what
 * the steps insert cannot be inserted any more when they are recorded, by no start that was slow, and no statement that was held up.
 * Errors: a `StorageError` "outdated" when a newer version has opened the store.
 */
export async function applyMigrations(engine: Engine, { cluster, missing, version }: Work): Promise<void> {
  const [tables, later] = [missing.filter(isFirst), missing.filter((one) => !isFirst(one))];
  for (const migration of tables) {
    await runSteps(engine, { cluster, migration, version });
    await record(engine, migration, version);
  }
  if (later.length === 0) return;
  const preparing = version - HALF;
  await refuseOlder(engine, { cluster, version: preparing });
  try {
    for (const migration of later) await runSteps(engine, { cluster, migration, version: preparing });
  } catch (error) {
    // after the last step of another start; if a newer version refuses them, it refuses to record them too
    if (!(error instanceof StorageError) || error.kind !== "outdated") throw error;
  }
  await refuseOlder(engine, { cluster, version, only: later.flatMap((one) => filledBy(one)) });
  for (const migration of later) await record(engine, migration, version);
}

/** What prepares a store for a version comes before it, and after the version before. */
const HALF = 0.5;

function isFirst({ name }: Migration): boolean {
  return name === FIRST;
}

interface Steps {
  readonly cluster: string | undefined;
  readonly migration: Migration;
  readonly version: number;
}

async function runSteps(engine: Engine, { cluster, migration, version }: Steps): Promise<void> {
  for (const statement of statementsOf(migration, { cluster })) {
    const name = `migrate_${migration.name.slice(0, 4)}`;
    // what is copied between tables stays on its shard; DDL says ON CLUSTER by itself
    const where = statement.startsWith("INSERT")
      ? ({ tables: "each", mustBeCurrent: true } as const)
      : ({ tables: "own" } as const);
    await engine.command(trusted(statement), { name, storeVersion: version, ...where });
  }
}

function record(engine: Engine, migration: Migration, version: number): Promise<void> {
  return engine.insert("schema_migrations", [{ name: migration.name, checksum: checksumOf(migration) }], {
    name: "migrate_record",
    tables: "each",
    storeVersion: version,
  });
}

/** The tables that it inserts into. */
function filledBy(migration: Migration): readonly string[] {
  return statementsOf(migration, { cluster: undefined }).flatMap(
    (statement) => /^INSERT INTO (\w+)/.exec(statement)?.[1] ?? [],
  );
}
