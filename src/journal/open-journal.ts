import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DamagedJournalError, JournalFile } from "./journal-file.ts";
import type { Journal, OrphanedRecord } from "./journal.ts";

export interface JournalOptions {
  readonly maxBytes: number;
  /** Called when a record could not be written or removed. */
  readonly onFailure: (error: unknown) => void;
}

export interface OpenedJournal {
  readonly journal: Journal;
  /** Number of records of other stores in the directory; orphaned untouched. */
  readonly ofOtherStores: number;
  /** Corrupt files, renamed. */
  readonly damaged: readonly string[];
}

/** Limit of processes sharing a directory. */
const MAX_FILES = 64;
const TRUNCATE_INTERVAL_MS = 60_000;

/**
 * Opens a journal of this process for a store. Processes never share a file: each locks the first free one and moves the
 * records of other openUnlocked files into it. Throws if the directory is unusable.
 */
export function openJournal(dir: string, store: string, options: JournalOptions): OpenedJournal {
  makePrivate(dir);
  const name = createHash("sha256").update(store).digest("hex").slice(0, 16);
  const found = filesIn(dir);
  const damaged: string[] = [];
  const own = lockFile(dir, name, { maxBytes: options.maxBytes, damaged });
  const orphaned: OrphanedRecord[] = own.file
    .keys()
    .map((one) => ({ ...one, lastWriteMs: found.get(own.path) ?? 0 }));
  let ofOtherStores = 0;
  for (const [path, lastWriteMs] of found) {
    const other = path === own.path ? undefined : openUnlocked(path, options.maxBytes, damaged);
    if (other === undefined) continue;
    if (!path.startsWith(join(dir, `${name}-`))) ofOtherStores += other.keys().length;
    else orphaned.push(...own.file.moveFrom(other).map((one) => ({ ...one, lastWriteMs })));
    other.close();
  }
  return { journal: journalIn(own.file, orphaned, options.onFailure), ofOtherStores, damaged };
}

function journalIn(
  file: JournalFile,
  orphaned: readonly OrphanedRecord[],
  onFailure: JournalOptions["onFailure"],
): Journal {
  const attempt = <Result>(work: () => Result): Result | undefined => {
    try {
      return work();
    } catch (error) {
      onFailure(error);
      return undefined;
    }
  };
  const truncating = setInterval(() => attempt(() => file.truncateLog()), TRUNCATE_INTERVAL_MS).unref();
  return {
    orphaned,
    add: (key, record) => attempt(() => file.add(key, record)),
    remove: (entries) => attempt(() => file.remove(entries)),
    read: (entry) => attempt(() => file.read(entry)),
    close() {
      clearInterval(truncating);
      file.close();
    },
  };
}

/** Creates the directory, readable by this user only. */
function makePrivate(dir: string): void {
  for (const path of [dirname(dir), dir]) {
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
}

/** Returns the journal files and their last write times. */
function filesIn(dir: string): ReadonlyMap<string, number> {
  const paths = readdirSync(dir)
    .filter((name) => name.endsWith(".db"))
    .map((name) => join(dir, name));
  return new Map(paths.map((path) => [path, Math.max(writtenAt(path), writtenAt(`${path}-wal`))]));
}

function writtenAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function lockFile(
  dir: string,
  name: string,
  { maxBytes, damaged }: { maxBytes: number; damaged: string[] },
): { path: string; file: JournalFile } {
  for (let at = 0; at < MAX_FILES; at++) {
    const path = join(dir, `${name}-${at}.db`);
    const file = openUnlocked(path, maxBytes, damaged);
    if (file !== undefined) return { path, file };
  }
  throw new Error(`all ${MAX_FILES} journal files in ${dir} are locked`);
}

/** Source: https://sqlite.org/rescode.html */
const BUSY = 5;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** Opens a file, unless another process has locked it. Renames a corrupt file and creates a new one. */
function openUnlocked(path: string, maxBytes: number, damaged: string[]): JournalFile | undefined {
  try {
    return new JournalFile(path, maxBytes);
  } catch (error) {
    const code = primaryCodeOf(error);
    if (code === BUSY) return undefined;
    const isDamaged = error instanceof DamagedJournalError || code === CORRUPT || code === NOT_A_DATABASE;
    if (!isDamaged) throw error;
    const renamed = `${path}.damaged-${Date.now()}`;
    renameSync(path, renamed);
    rmSync(`${path}-wal`, { force: true });
    damaged.push(renamed);
    return new JournalFile(path, maxBytes);
  }
}

function primaryCodeOf(error: unknown): number {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : 0;
}
