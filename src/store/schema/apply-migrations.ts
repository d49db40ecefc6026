import { trusted } from "../../query/sql.ts";
import type { Engine } from "../engine.ts";
import { checksumOf, statementsOf, type Migration } from "./migrations.ts";

interface Work {
  readonly cluster: string | undefined;
  /** In order of application. */
  readonly missing: readonly Migration[];
}

/** Applies migrations; safe to run in several processes at once. Throws `StorageError`. */
export async function applyMigrations(engine: Engine, { cluster, missing }: Work): Promise<void> {
  for (const migration of missing) {
    for (const statement of statementsOf(migration, { cluster })) {
      const name = `migrate_${migration.name.slice(0, 4)}`;
      // INSERT … SELECT runs on each shard; DDL has ON CLUSTER
      const where = statement.startsWith("INSERT")
        ? ({ tables: "per_shard", requireCurrent: true } as const)
        : ({ tables: "local" } as const);
      await engine.command(trusted(statement), { name, ...where });
    }
    await engine.insert("schema_migrations", [{ name: migration.name, checksum: checksumOf(migration) }], {
      name: "migrate_record",
      tables: "per_shard",
    });
  }
}
