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
 * Copies the whole store, as it is now, into a new directory, while it is read and written. Each table is copied as it
 * is at some moment after the start: what was acknowledged before is in it. A copy that fails is removed. It continues
 * when its client leaves, because the engine would go on writing to what is being removed.
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

/** The engine copies what fits on the disk, and calls it complete. */
function cutOff(): AppError {
  return new AppError("store_unavailable", "Not enough disk space for a backup.", {
    retryAfterSeconds: 59,
  });
}

/** How large the engine believes its latest backup of this name to be. */
async function bytesToCopy(engine: Engine, name: string): Promise<number | undefined> {
  const rows = await engine.rows<{ bytes: number }>(
    sql`SELECT uncompressed_size AS bytes FROM system.backups
        WHERE endsWith(name, ${param("String", `/${name}')`)}) ORDER BY start_time DESC LIMIT 1`,
    { name: "backup_size", tables: "local" },
  );
  return rows[0]?.bytes;
}

/** A directory of its own: clocks cannot tell backups apart, and an existing one may be somebody's only copy. */
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
