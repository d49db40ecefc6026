import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";
import { openEmbedded } from "../src/store/connect.ts";
import { storeAudit } from "../src/http/audit/audit-log.ts";
import { createKeyStore } from "../src/http/auth/key-store.ts";
import { ENGINE_FILES, markHalfRestored, noteRestored } from "../src/store/transport/data-dir.ts";
import type { Engine } from "../src/store/engine.ts";
import { param, sql, trusted } from "../src/query/sql.ts";
import { argumentsOr, orExit } from "./command-line.ts";

const USAGE = `Make a store in DATA_DIR, which must not hold one, from a backup.

  npm run restore -- <directory of the backup>`;

const { values, positionals } = argumentsOr(USAGE, { help: { type: "boolean", short: "h" } });
const [given] = positionals;
if (values.help === true || given === undefined || positionals.length > 1) {
  console.log(USAGE);
  process.exit(values.help === true ? 0 : 2);
}

await orExit(async (config) => {
  const backup = resolve(given);
  const dataDir = resolve(config.DATA_DIR);
  if (config.CLICKHOUSE_URL !== undefined)
    throw new Error("CLICKHOUSE_URL is set: use the server's own RESTORE.");
  if (!existsSync(join(backup, ".backup")))
    throw new Error(`${backup} is no backup: it has no file .backup.`);
  if (existsSync(join(dataDir, "metadata"))) {
    throw new Error(`DATA_DIR ${dataDir} holds a store. Move it away, or set another DATA_DIR.`);
  }
  const engine = await openEmbedded(dataDir, { backupDir: dirname(backup) });
  const done = markHalfRestored(dataDir);
  try {
    await restore(engine, backup);
  } catch (error) {
    await engine.close();
    await Promise.all(ENGINE_FILES.map((name) => rm(join(dataDir, name), { recursive: true, force: true })));
    done();
    throw error;
  }
  const [found] = await engine.rows<{ rows: number }>(
    sql`SELECT sum(total_rows) AS rows FROM system.tables WHERE database = ${param("String", "default")}`,
    { name: "restore_count" },
  );
  const keys = await createKeyStore(engine).list();
  await noteInAudit(engine, basename(backup));
  await engine.close();
  noteRestored(dataDir, backup);
  done();
  console.log(`Restored ${found?.rows ?? 0} rows into ${dataDir}. Start the service.`);
  if (keys.length === 0) return;
  console.log(
    "\nThese keys are valid again, also those that were revoked after the backup. Revoke those again.\n",
  );
  for (const { id, name, scopes, projects } of keys)
    console.log(`  ${id}  ${name}: ${scopes.join(" ")}, ${projects.join(" ")}`);
});

/** Whoever can run this needs no key. */
function noteInAudit(engine: Engine, name: string): Promise<void> {
  const entry = {
    id: randomUUID(),
    at_us: Date.now() * 1000,
    action: "backup.restore",
    projects: ["*"],
    key_id: "",
    key_name: "npm run restore",
    request_id: "",
    details: { name },
    outcome: "done",
    status: 0,
  } as const;
  return storeAudit(engine, [entry]);
}

async function restore(engine: Engine, backup: string): Promise<void> {
  const from = `'${backup.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  await engine.command(
    trusted(`RESTORE DATABASE default FROM File(${from}) SETTINGS allow_different_database_def = 1`),
    { name: "restore", limits: "maintenance" },
  );
}
