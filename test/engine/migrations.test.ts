import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql, trusted } from "../../src/query/sql.ts";
import { openEmbedded } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { MigrationError } from "../../src/store/migration-error.ts";
import { migrate, pendingMigrations } from "../../src/store/schema/migrate.ts";

let dir: string;
let engine: Engine;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "sumtree-migrations-"));
  engine = await openEmbedded(dir);
});
afterAll(async () => {
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
});

const run = (statement: string): Promise<void> => engine.command(trusted(statement), { name: "test" });
const tables = () =>
  engine.rows(sql`SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase()`, {
    name: "test",
  });

describe("a store from before 1.0", () => {
  it("is refused by name and left as it is", async () => {
    await run(`CREATE TABLE schema_migrations (name String, checksum String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
      ENGINE = ReplacingMergeTree ORDER BY name`);
    await run("CREATE TABLE calls (project_id String, id String) ENGINE = MergeTree ORDER BY id");
    await run(
      "INSERT INTO schema_migrations (name, checksum) VALUES ('0001_create_calls.sql', 'x'), ('0002_more.sql', 'y')",
    );
    const before = await tables();
    for (const begin of [() => migrate(engine, { cluster: undefined }), () => pendingMigrations(engine)]) {
      const refused = expect(begin()).rejects;
      await refused.toThrow(MigrationError);
      await expect(begin()).rejects.toThrow(/of a version before 1\.0.*docs\/operate\/upgrade\.md/);
    }
    expect(await tables()).toEqual(before);
    for (const table of ["calls", "schema_migrations"]) await run(`DROP TABLE ${table}`);
  });
});
