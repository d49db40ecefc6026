import { createHash } from "node:crypto";
import { mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export type RecordId = number;

export interface JournalRecord {
  readonly key: string;
  readonly text: string;
}

export interface OrphanedRecord {
  readonly id: RecordId;
  readonly key: string;
  readonly bytes: number;
}

/** Local durable buffer of records until they are stored elsewhere. */
export interface Journal {
  /**
   * Adds records in one transaction. They then survive the end of the process, but not of the machine: nothing is synced.
   * Returns `undefined` if they could not be written. Cost: 5 µs per kilobyte.
   */
  add(records: readonly JournalRecord[]): readonly RecordId[] | undefined;
  /** Removes records. Failed removals are left to the next process. */
  remove(ids: readonly RecordId[]): void;
  read(id: RecordId): string | undefined;
  /** Records of the process before, oldest first. */
  readonly orphaned: readonly OrphanedRecord[];
  /** Last write of the process before, in milliseconds since the epoch. */
  readonly lastWriteMs: number;
  close(): void;
}

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
export function openJournal(
  dir: string,
  store: string,
  { maxBytes, onFailure }: JournalOptions,
): OpenedJournal {
  // for this user only
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, "completions.db");
  const lastWriteMs = Math.max(writtenAt(path), writtenAt(`${path}-wal`));
  const { database, damaged } = openUndamaged(path, maxBytes);
  const name = createHash("sha256").update(store).digest("hex").slice(0, 16);
  const others = database.prepare("SELECT count() AS n FROM records WHERE store != ?").get(name);
  const own = database.prepare(
    "SELECT entry AS id, key, octet_length(record) AS bytes FROM records WHERE store = ? ORDER BY entry",
  );
  const orphaned = own.all(name) as unknown as Journal["orphaned"];
  const journal = { ...recordsIn(database, name, onFailure), orphaned, lastWriteMs };
  return { journal, ofOtherStores: Number(others?.["n"]), damaged };
}

function recordsIn(database: DatabaseSync, store: string, onFailure: JournalOptions["onFailure"]) {
  const insert = database.prepare("INSERT INTO records (store, key, record) VALUES (?, ?, ?)");
  const remove = database.prepare("DELETE FROM records WHERE entry = ?");
  const select = database.prepare("SELECT record FROM records WHERE entry = ?");
  let logBytes = 0;
  const attempt = <Result>(work: () => Result): Result | undefined => {
    try {
      return work();
    } catch (error) {
      onFailure(error);
      return undefined;
    }
  };
  const transaction = <Result>(work: () => Result): Result | undefined =>
    attempt(() => {
      database.exec("BEGIN");
      try {
        const result = work();
        database.exec("COMMIT");
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    });
  const checkpoint = (mode: "PASSIVE" | "TRUNCATE"): void =>
    attempt(() => database.exec(`PRAGMA wal_checkpoint(${mode})`));
  const truncating = setInterval(() => checkpoint("TRUNCATE"), TRUNCATE_INTERVAL_MS).unref();
  return {
    add: (records: readonly JournalRecord[]) =>
      transaction(() =>
        records.map(({ key, text }): RecordId => {
          logBytes += text.length + 2 * PAGE_BYTES;
          return Number(insert.run(store, key, text).lastInsertRowid);
        }),
      ),
    remove(ids: readonly RecordId[]): void {
      transaction(() => {
        for (const id of ids) remove.run(id);
      });
      if (logBytes < CHECKPOINT_BYTES) return;
      logBytes = 0;
      checkpoint("PASSIVE");
    },
    read: (id: RecordId) => attempt(() => (select.get(id) as { record: string } | undefined)?.record),
    close(): void {
      clearInterval(truncating);
      database.close();
    },
  };
}

function writtenAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Source: https://sqlite.org/rescode.html */
const DAMAGED: ReadonlySet<number> = new Set([11, 26]);

/** Opens the file. Renames a corrupt one and creates another. */
function openUndamaged(path: string, maxBytes: number) {
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
