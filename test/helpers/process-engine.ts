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
  await dropTables(engine);
  await migrate(engine, { cluster: undefined });
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

/** Also of what a test has set for them. */
async function dropTables(engine: Engine): Promise<void> {
  const options = { name: "test_tables" };
  const tables = await engine.rows<{ name: string }>(
    sql`SELECT name FROM system.tables WHERE database = currentDatabase()`,
    options,
  );
  for (const { name } of tables) await engine.command(sql`DROP TABLE ${trusted(name)} SYNC`, options);
}
