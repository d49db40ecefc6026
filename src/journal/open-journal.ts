import { createHash } from "node:crypto";
import { mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Journal, RecordId } from "./journal.ts";

export interface JournalOptions {
  readonly maxBytes: number;
  /** Called when records could not be written or removed. */
  readonly onFailure: (error: unknown) => void;
}

export interface OpenedJournal {
  readonly journal: Journal;
  /** Number of records of other stores in the file. They stay. */
  readonly ofOtherStores: number;
  /** Corrupt file, renamed. */
  readonly damaged: string | undefined;
}

const PAGE_BYTES = 4096;
/** Time for the process before to close the file. */
const LOCK_TIMEOUT_MS = 5000;
/** Bytes written before removals trigger a checkpoint (about 1 ms), so that adding a record never waits for one. */
const CHECKPOINT_BYTES = 1024 * 1024;
/** Checkpoint limit while nothing is removed. */
const CHECKPOINT_PAGES = 4096;
const TRUNCATE_INTERVAL_MS = 60_000;

/** Opens the journal of a store; one process at a time. Throws if the directory is unusable or the file is locked. */
export function openJournal(dir: string, store: string, options: JournalOptions): OpenedJournal {
  makePrivate(dir);
  const path = join(dir, "completions.db");
  const lastWriteMs = Math.max(writtenAt(path), writtenAt(`${path}-wal`));
  const { database, damaged } = openUndamaged(path, options.maxBytes);
  const name = createHash("sha256").update(store).digest("hex").slice(0, 16);
  const count = database.prepare("SELECT count() AS n FROM records WHERE store != ?").get(name);
  return {
    journal: journalIn(database, { store: name, lastWriteMs, onFailure: options.onFailure }),
    ofOtherStores: Number(count?.["n"]),
    damaged,
  };
}

function journalIn(
  database: DatabaseSync,
  {
    store,
    lastWriteMs,
    onFailure,
  }: { store: string; lastWriteMs: number; onFailure: JournalOptions["onFailure"] },
): Journal {
  const insert = database.prepare("INSERT INTO records (store, key, record) VALUES (?, ?, ?)");
  const remove = database.prepare("DELETE FROM records WHERE entry = ?");
  const select = database.prepare("SELECT record FROM records WHERE entry = ?");
  const orphaned = database
    .prepare("SELECT entry AS id, key FROM records WHERE store = ? ORDER BY entry")
    .all(store);
  let logBytes = 0;
  const attempt = <Result>(work: () => Result): Result | undefined => {
    try {
      return work();
    } catch (error) {
      onFailure(error);
      return undefined;
    }
  };
  const truncateLog = (): void => database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const truncating = setInterval(() => attempt(truncateLog), TRUNCATE_INTERVAL_MS).unref();
  return {
    orphaned: orphaned as unknown as Journal["orphaned"],
    lastWriteMs,
    add: (records) =>
      attempt(() =>
        transaction(database, () =>
          records.map(({ key, text }): RecordId => {
            logBytes += text.length + 2 * PAGE_BYTES;
            return Number(insert.run(store, key, text).lastInsertRowid);
          }),
        ),
      ),
    remove(ids) {
      attempt(() => {
        transaction(database, () => {
          for (const id of ids) remove.run(id);
        });
        if (logBytes < CHECKPOINT_BYTES) return;
        logBytes = 0;
        database.exec("PRAGMA wal_checkpoint");
      });
    },
    read: (id) => attempt(() => (select.get(id) as { record: string } | undefined)?.record),
    close() {
      clearInterval(truncating);
      database.close();
    },
  };
}

function transaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec("BEGIN");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
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

function writtenAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Source: https://sqlite.org/rescode.html */
const DAMAGED: ReadonlySet<number> = new Set([11, 26]);

/** Opens the file. Renames a corrupt one and creates another. */
function openUndamaged(
  path: string,
  maxBytes: number,
): { database: DatabaseSync; damaged: string | undefined } {
  try {
    return { database: openDatabase(path, maxBytes), damaged: undefined };
  } catch (error) {
    const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
    if (!DAMAGED.has(code)) throw error;
    const damaged = `${path}.damaged-${Date.now()}`;
    renameSync(path, damaged);
    rmSync(`${path}-wal`, { force: true });
    return { database: openDatabase(path, maxBytes), damaged };
  }
}

function openDatabase(path: string, maxBytes: number): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: LOCK_TIMEOUT_MS });
  try {
    database.exec(`
      PRAGMA page_size = ${PAGE_BYTES};
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = OFF;
      PRAGMA secure_delete = ON;
      PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
      PRAGMA max_page_count = ${Math.ceil(maxBytes / PAGE_BYTES)};
      BEGIN IMMEDIATE;
      CREATE TABLE IF NOT EXISTS records
        (entry INTEGER PRIMARY KEY, store TEXT NOT NULL, key TEXT NOT NULL, record TEXT NOT NULL) STRICT;
      COMMIT;
    `);
    const check = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
    if (check !== "ok") throw Object.assign(new Error(String(check)), { errcode: 11 });
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
