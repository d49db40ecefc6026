import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "../../store/engine.ts";
import { trusted } from "../../query/sql.ts";
import type { Clock } from "../../shared/clock.ts";

export interface BackupDeps {
  readonly engine: Engine;
  /** Where the embedded engine may write backups. */
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
 * stands at some moment after the start: what was acknowledged before is in it. A copy that fails is taken away. It goes on
 * when its client leaves: the engine would write behind the back of whoever takes it away.
 */
export async function makeBackup({ engine, dir, clock }: BackupDeps): Promise<Backup> {
  const startedAtMs = clock.now();
  const name = `sumtree-${new Date(startedAtMs).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
  const path = join(dir, name);
  try {
    await engine.command(trusted(`BACKUP DATABASE default TO File(${literal(path)})`), {
      name: "backup",
      limits: "maintenance",
    });
  } catch (error) {
    await rm(path, { recursive: true, force: true });
    throw error;
  }
  return { name, path, startedAtMs, bytes: await sizeOf(path) };
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
