import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DamagedJournalError, JournalFile } from "./journal-file.ts";
import type { Journal, OrphanedRecord } from "./journal.ts";

export interface JournalOptions {
  readonly maxBytes: number;
  /** Hears why a record could not be written or removed. */
  readonly onFailure: (error: unknown) => void;
}

export interface OpenedJournal {
  readonly journal: Journal;
  /** Records in the directory that belong to another store. They stay. */
  readonly ofOtherStores: number;
  /** Files that could not be read, and were put aside. */
  readonly damaged: readonly string[];
}

/** More than processes share a directory. */
const MAX_FILES = 64;
const TIDY_INTERVAL_MS = 60_000;

/**
 * Opens a journal of this process for a store. Processes never share a file: each takes the first one that nobody has
 * locked, and what it finds in others that nobody has. Errors: the directory cannot be used.
 */
export function openJournal(dir: string, store: string, options: JournalOptions): OpenedJournal {
  makePrivate(dir);
  const name = createHash("sha256").update(store).digest("hex").slice(0, 16);
  const found = filesIn(dir);
  const damaged: string[] = [];
  const own = takeFile(dir, name, { maxBytes: options.maxBytes, damaged });
  const left: OrphanedRecord[] = own.file
    .keys()
    .map((one) => ({ ...one, lastWriteMs: found.get(own.path) ?? 0 }));
  let ofOtherStores = 0;
  for (const [path, lastWriteMs] of found) {
    const other = path === own.path ? undefined : unlocked(path, options.maxBytes, damaged);
    if (other === undefined) continue;
    if (!path.startsWith(join(dir, `${name}-`))) ofOtherStores += other.keys().length;
    else left.push(...own.file.moveFrom(other).map((one) => ({ ...one, lastWriteMs })));
    other.close();
  }
  return { journal: journalIn(own.file, left, options.onFailure), ofOtherStores, damaged };
}

function journalIn(
  file: JournalFile,
  left: readonly OrphanedRecord[],
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
  const tidy = setInterval(() => attempt(() => file.truncateLog()), TIDY_INTERVAL_MS).unref();
  return {
    orphaned: left,
    add: (key, record) => attempt(() => file.add(key, record)),
    remove: (entries) => attempt(() => file.remove(entries)),
    read: (entry) => attempt(() => file.read(entry)),
    close() {
      clearInterval(tidy);
      file.close();
    },
  };
}

/** Only this user may look into it. */
function makePrivate(dir: string): void {
  for (const path of [dirname(dir), dir]) {
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
}

/** The journals in a directory, and when each was written last. */
function filesIn(dir: string): ReadonlyMap<string, number> {
  const paths = readdirSync(dir)
    .filter((name) => name.endsWith(".db"))
    .map((name) => join(dir, name));
  return new Map(paths.map((path) => [path, Math.max(writtenAt(path), writtenAt(`${path}-wal`))]));
}

function writtenAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function takeFile(
  dir: string,
  name: string,
  { maxBytes, damaged }: { maxBytes: number; damaged: string[] },
): { path: string; file: JournalFile } {
  for (let at = 0; at < MAX_FILES; at++) {
    const path = join(dir, `${name}-${at}.db`);
    const file = unlocked(path, maxBytes, damaged);
    if (file !== undefined) return { path, file };
  }
  throw new Error(`all ${MAX_FILES} journals in ${dir} are in use`);
}

/** Source: https://sqlite.org/rescode.html */
const BUSY = 5;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** The file, unless another process has it. A damaged one is put aside for a new one. */
function unlocked(path: string, maxBytes: number, damaged: string[]): JournalFile | undefined {
  try {
    return new JournalFile(path, maxBytes);
  } catch (error) {
    const code = primaryCodeOf(error);
    if (code === BUSY) return undefined;
    const isDamaged = error instanceof DamagedJournalError || code === CORRUPT || code === NOT_A_DATABASE;
    if (!isDamaged) throw error;
    const aside = `${path}.damaged-${Date.now()}`;
    renameSync(path, aside);
    rmSync(`${path}-wal`, { force: true });
    damaged.push(aside);
    return new JournalFile(path, maxBytes);
  }
}

function primaryCodeOf(error: unknown): number {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : 0;
}
