import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { StoreOpenError } from "../store-open-error.ts";

/** What the engine makes in a data directory. */
const ENGINE_DIRS = ["data", "metadata", "store", "tmp"];
/** The engine's files, its lock included. */
export const ENGINE_FILES: readonly string[] = [...ENGINE_DIRS, "status"];
const OTHERS = 0o077;
const HALF_RESTORED = "half-restored";
const RESTORED_FROM = "restored-from";

/**
 * Creates a missing directory for this user only, and checks what the engine needs of it: the engine's own messages on
 * stderr are hard to understand. Errors: `StoreOpenError`.
 */
export function prepareDataDir(path: string): void {
  makeDirectory(path);
  if (!statSync(path).isDirectory()) throw refused(`DATA_DIR ${path} is a file. Set a directory.`);
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, user } = { code: codeOf(error), user: process.getuid?.() ?? "?" };
    throw refused(
      `DATA_DIR ${path} is not writable for this user, ${user} (${code}). Make it theirs, or set another.`,
    );
  }
  if (isThere(join(path, HALF_RESTORED))) {
    throw refused(
      `DATA_DIR ${path} holds half of a backup: a restore was cut off. Empty it, and restore again.`,
    );
  }
  const owner = lockOwner(join(path, "status"));
  if (owner !== undefined) throw locked(path, owner);
  for (const name of ENGINE_DIRS) closeToOthers(join(path, name));
}

/** Keeps others from opening the directory until the returned function is called: its content is incomplete. */
export function markHalfRestored(path: string): () => void {
  const mark = join(path, HALF_RESTORED);
  writeFileSync(mark, "", { flush: true });
  return () => rmSync(mark);
}

/** Notes for the next start which backup the directory was restored from. */
export function noteRestored(path: string, backup: string): void {
  writeFileSync(join(path, RESTORED_FROM), `${backup}\n`, { flush: true });
}

/** The backup that the directory was restored from, the first time that it is asked for. */
export function takeRestored(path: string): string | undefined {
  const note = join(path, RESTORED_FROM);
  if (!existsSync(note)) return undefined;
  const backup = readFileSync(note, "utf8").trim();
  rmSync(note);
  return backup;
}

export function locked(path: string, owner: number, cause?: unknown): StoreOpenError {
  const text = `DATA_DIR ${path} is in use by process ${owner}. Stop it, or set another.`;
  return new StoreOpenError("locked", text, cause);
}

/** The live process that the engine's lock file names. */
export function ownerOf(path: string): number | undefined {
  try {
    const owner = Number(/^PID: (\d+)$/m.exec(readFileSync(join(path, "status"), "utf8"))?.[1]);
    process.kill(owner, 0);
    return owner;
  } catch {
    return undefined;
  }
}

/** Level by level: Node's own way never returns where the kernel makes no directories, as in /proc. */
function makeDirectory(path: string): void {
  const parent = dirname(path);
  if (isThere(path)) return;
  if (parent !== path) makeDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    throw refused(
      `DATA_DIR cannot be made: ${parent} accepts no new directory (${codeOf(error)}). Set another.`,
    );
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Data of an earlier version, which others could read. */
function closeToOthers(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || (stats.mode & OTHERS) === 0) return;
  try {
    chmodSync(path, stats.mode & ~OTHERS);
  } catch (error) {
    if (codeOf(error) !== "EPERM") throw error;
  }
}

/** The process that has locked a file, according to Linux; undefined on other systems, and when there is none. */
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

function refused(text: string): StoreOpenError {
  return new StoreOpenError("other", text, undefined);
}
