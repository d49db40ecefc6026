import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql, trusted } from "../../src/query/sql.ts";
import { openEmbedded } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { migrate } from "../../src/store/schema/migrate.ts";

export interface TestEngine {
  readonly engine: Engine;
  /** For what the service keeps beside the store. */
  readonly dir: string;
  close(): Promise<void>;
}

interface Opened {
  readonly engine: Engine;
  readonly dir: string;
}

/** A process can have one embedded engine. It ends with the process. */
let opened: Promise<Opened> | undefined;

/** The embedded engine of this process with an empty store: one test file at a time can have it. */
export async function openProcessEngine(): Promise<TestEngine> {
  opened ??= open();
  const { engine, dir } = await opened;
  await emptyStore(engine);
  const own = mkdtempSync(join(dir, "test-"));
  return {
    engine,
    dir: own,
    async close() {
      rmSync(own, { recursive: true, force: true });
    },
  };
}

async function open(): Promise<Opened> {
  const dir = mkdtempSync(join(tmpdir(), "sumtree-tests-"));
  const store = join(dir, "store");
  mkdirSync(store);
  return { engine: await openEmbedded(store, { backupDir: dir, maxWaitMs: 90_000 }), dir };
}

const options = { name: "test_tables" };
interface Table {
  readonly name: string;
  readonly create_table_query: string;
  readonly total_rows: number | null;
  readonly mutations: number;
}
const MIGRATIONS = "schema_migrations";
/** Tables as the migrations create them. */
let migrated: string | undefined;

/** Truncates the tables that have rows; creates all anew if a test has altered or migrated one, or deleted rows. */
async function emptyStore(engine: Engine): Promise<void> {
  const tables = await tablesOf(engine);
  if (describe(tables) !== migrated || tables.some(({ mutations }) => mutations > 0)) {
    for (const { name } of tables) await engine.command(sql`DROP TABLE ${trusted(name)} SYNC`, options);
    await migrate(engine, { cluster: undefined });
    migrated = describe(await tablesOf(engine));
    return;
  }
  for (const { name, total_rows } of tables) {
    if (total_rows !== 0 && name !== MIGRATIONS)
      await engine.command(sql`TRUNCATE TABLE ${trusted(name)} SYNC`, options);
  }
}

function tablesOf(engine: Engine): Promise<readonly Table[]> {
  return engine.rows<Table>(
    sql`SELECT name, create_table_query, toUInt32(total_rows) AS total_rows,
          toUInt32((SELECT count() FROM system.mutations WHERE database = currentDatabase())) AS mutations
        FROM system.tables WHERE database = currentDatabase() ORDER BY name`,
    options,
  );
}

function describe(tables: readonly Table[]): string {
  const applied = tables.find(({ name }) => name === MIGRATIONS)?.total_rows;
  return [applied, ...tables.map(({ create_table_query }) => create_table_query)].join("\n");
}
