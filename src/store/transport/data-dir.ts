import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { StoreOpenError } from "../store-open-error.ts";

/** Directories that ClickHouse creates in a data directory. */
const ENGINE_DIRS = ["data", "metadata", "store", "tmp"];
/** ClickHouse's directories and its lock file. */
export const ENGINE_FILES: readonly string[] = [...ENGINE_DIRS, "status"];
const HALF_RESTORED = "half-restored";
const RESTORED_FROM = "restored-from";

/**
 * Creates a missing directory, private to this user, and checks ClickHouse's requirements up front, because its own errors
 * on stderr are obscure. Throws `StoreOpenError`.
 */
export function prepareDataDir(path: string): void {
  makeDirectory(path);
  if (!statSync(path).isDirectory()) throw openError(`DATA_DIR ${path} is a file. Set a directory.`);
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, user } = { code: codeOf(error), user: process.getuid?.() ?? "?" };
    throw openError(
      `DATA_DIR ${path} is not writable by user ${user} (${code}). Change its owner or set another directory.`,
    );
  }
  if (isThere(join(path, HALF_RESTORED))) {
    throw openError(`DATA_DIR ${path} contains an incomplete restore. Empty it and restore again.`);
  }
  const owner = lockOwner(join(path, "status"));
  if (owner !== undefined) throw locked(path, owner);
}

/** Marks a directory as incomplete, so that it cannot be opened until the returned function is called. */
export function markHalfRestored(path: string): () => void {
  const mark = join(path, HALF_RESTORED);
  writeFileSync(mark, "", { flush: true });
  return () => rmSync(mark);
}

/** Records, for the next start, the backup that the directory was restored from. */
export function noteRestored(path: string, backup: string): void {
  writeFileSync(join(path, RESTORED_FROM), `${backup}\n`, { flush: true });
}

/** Returns the backup recorded by `noteRestored`, once. */
export function takeRestored(path: string): string | undefined {
  const note = join(path, RESTORED_FROM);
  if (!existsSync(note)) return undefined;
  const backup = readFileSync(note, "utf8").trim();
  rmSync(note);
  return backup;
}

export function locked(path: string, owner: number, cause?: unknown): StoreOpenError {
  const text = `DATA_DIR ${path} is in use by process ${owner}. Stop it or set another directory.`;
  return new StoreOpenError("locked", text, cause);
}

/** Reads the process id in ClickHouse's lock file; `undefined` unless that process is alive. */
export function ownerOf(path: string): number | undefined {
  try {
    const owner = Number(/^PID: (\d+)$/m.exec(readFileSync(join(path, "status"), "utf8"))?.[1]);
    process.kill(owner, 0);
    return owner;
  } catch {
    return undefined;
  }
}

function makeDirectory(path: string): void {
  if (isThere(path)) return;
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw openError(`DATA_DIR ${path} cannot be created (${codeOf(error)}). Set another directory.`);
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Finds the process that holds a file lock, on Linux; `undefined` on other systems or without a lock. */
function lockOwner(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || process.platform !== "linux") return undefined;
  for (const line of readFileSync("/proc/locks", "utf8").split("\n")) {
    const [, pid, inode] = / FLOCK +\S+ +WRITE (\d+) [\da-f]+:[\da-f]+:(\d+) /.exec(line) ?? [];
    if (Number(inode) === stats.ino && Number(pid) !== process.pid) return Number(pid);
  }
  return undefined;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

function openError(text: string): StoreOpenError {
  return new StoreOpenError("other", text, undefined);
}
