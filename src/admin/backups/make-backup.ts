import { lstat, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "../../store/engine.ts";
import { param, sql, trusted } from "../../query/sql.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";

export interface BackupDeps {
  readonly engine: Engine;
  /** Directory that the embedded engine may write backups to. */
  readonly dir: string;
  readonly clock: Clock;
}

export interface Backup {
  readonly name: string;
  readonly path: string;
  readonly startedAtMs: number;
  readonly bytes: number;
}

/**
 * Copies the store into a new directory while it is in use. Each table is copied as of some moment after the start, so the
 * copy has everything acknowledged before. A failed copy is removed. The backup continues if the client leaves, because the
 * engine cannot be stopped.
 */
export async function makeBackup({ engine, dir, clock }: BackupDeps): Promise<Backup> {
  const startedAtMs = clock.now();
  const name = await makeDirectory(dir, startedAtMs);
  const path = join(dir, name);
  try {
    await engine.command(trusted(`BACKUP DATABASE default TO File(${literal(path)})`), {
      name: "backup",
      limits: "maintenance",
    });
    const bytes = await sizeOf(path);
    if (bytes !== (await bytesToCopy(engine, name))) throw cutOff();
    return { name, path, startedAtMs, bytes };
  } catch (error) {
    await rm(path, { recursive: true, force: true });
    throw error;
  }
}

/** Error for a full disk, on which the engine copies what fits and reports success. */
function cutOff(): AppError {
  return new AppError("store_unavailable", "Not enough disk space for a backup.", {
    retryAfterSeconds: 59,
  });
}

/** Reads the size of the latest backup of this name, as the engine reports it. */
async function bytesToCopy(engine: Engine, name: string): Promise<number | undefined> {
  const rows = await engine.rows<{ bytes: number }>(
    sql`SELECT uncompressed_size AS bytes FROM system.backups
        WHERE endsWith(name, ${param("String", `/${name}')`)}) ORDER BY start_time DESC LIMIT 1`,
    { name: "backup_size", tables: "local" },
  );
  return rows[0]?.bytes;
}

/** Creates a new directory: never overwrites a backup, even if the clock repeats a name. */
async function makeDirectory(dir: string, startedAtMs: number): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const second = `sumtree-${new Date(startedAtMs).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
  for (let count = 1; ; count++) {
    const name = count === 1 ? second : `${second}-${count}`;
    try {
      await mkdir(join(dir, name), { mode: 0o700 });
      return name;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EEXIST") throw code === "ENOSPC" ? cutOff() : error;
    }
  }
}

function literal(path: string): string {
  return `'${path.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

async function sizeOf(path: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await lstat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}
