import { setTimeout as pause } from "node:timers/promises";
import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import type { Engine } from "../engine.ts";
import { MigrationError } from "../migration-error.ts";
import { fence, fenceName, oldestWriter, versionIn } from "../store-version.ts";

interface Fence {
  readonly cluster: string | undefined;
  /** Inserts of older versions are refused. */
  readonly version: number;
  /** Default: all tables of the store. */
  readonly only?: readonly string[];
}

/** Longer than any insert may take. */
const WAIT_MS = 660_000;
const PAUSE_MS = 100;
/** What is refused on any table must not be recorded as done. */
const FIRST_OF_ALL = "schema_migrations";

/**
 * From its end on nothing of an older version is stored: the engine refuses it, and what it had begun is over. Idempotent, and
 * harmless when a statement of it comes late. Errors: `MigrationError` when an older insert does not end.
 */
export async function refuseOlder(engine: Engine, { cluster, version, only }: Fence): Promise<void> {
  const onCluster = trusted(cluster === undefined ? "" : `ON CLUSTER '${cluster}'`);
  const raise = (table: string): Promise<void> =>
    // a replica that has not made the change before it refuses the next one
    engine.command(
      sql`ALTER TABLE ${trusted(`\`${table}\``)} ${onCluster} ${fence(version)} SETTINGS alter_sync = 2`,
      { name: "migrate_fence", tables: "own" },
    );
  const open = await tablesWithout(engine, cluster, version);
  if (open.includes(FIRST_OF_ALL)) await raise(FIRST_OF_ALL);
  const others = open.filter((table) => table !== FIRST_OF_ALL);
  await Promise.all(others.filter((table) => only?.includes(table) ?? true).map(raise));
  await olderAreOver(engine, cluster, version);
}

/** The oldest version that may write; 0: any. */
export async function oldestWriterOf(engine: Engine): Promise<number> {
  const [row] = await engine.rows<{ version: number }>(sql`SELECT ${oldestWriter} AS version`, {
    name: "migrate_oldest",
    tables: "own",
  });
  return row!.version;
}

/** The tables that a replica has without the fence. */
async function tablesWithout(
  engine: Engine,
  cluster: string | undefined,
  version: number,
): Promise<readonly string[]> {
  const rows = await engine.rows<{ name: string }>(
    sql`SELECT DISTINCT name FROM ${everywhere(cluster, "tables")}
        WHERE database = (SELECT currentDatabase()) AND engine LIKE '%MergeTree'
          AND NOT match(create_table_query, ${param("String", `CONSTRAINT .?${fenceName(version)}\\W`)}) ORDER BY name`,
    { name: "migrate_open", limits: "maintenance", tables: "own" },
  );
  return rows.map(({ name }) => name);
}

function everywhere(cluster: string | undefined, table: string): Sql {
  return trusted(
    cluster === undefined ? `system.${table}` : `clusterAllReplicas('${cluster}', system.${table})`,
  );
}

/** An insert that began before the fence looks at the table as it was. */
async function olderAreOver(engine: Engine, cluster: string | undefined, version: number): Promise<void> {
  for (const giveUpMs = performance.now() + WAIT_MS; ; await pause(PAUSE_MS)) {
    const [row] = await engine.rows<{ n: number }>(
      sql`SELECT count() AS n FROM ${everywhere(cluster, "processes")} WHERE query_kind = 'Insert' AND is_initial_query
            AND match(current_database, concat('^', (SELECT currentDatabase()), '(_[0-9]+_shards)?$'))
            AND ${versionIn(trusted("Settings['log_comment']"))} < ${trusted(String(version))}`,
      { name: "migrate_older", limits: "maintenance", tables: "own" },
    );
    if (row!.n === 0) return;
    if (performance.now() > giveUpMs)
      throw new MigrationError("An insert of an older version does not end. Stop the older services.");
  }
}
