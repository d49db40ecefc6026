import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { RecordId, OrphanedRecord } from "./journal.ts";

const PAGE_BYTES = 4096;
/** Bytes written before removals trigger a checkpoint (about 1 ms), so that adding a record never waits for one. */
const CHECKPOINT_BYTES = 1024 * 1024;
/** Checkpoint limit while nothing is removed. */
const CHECKPOINT_PAGES = 4096;

/** Corrupt journal file. */
export class DamagedJournalError extends Error {
  override readonly name = "DamagedJournalError";
}

/** Records in an SQLite file, opened by one process at a time. All methods throw `ERR_SQLITE_ERROR`. */
export class JournalFile {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #delete: StatementSync;
  readonly #select: StatementSync;
  #walBytes = 0;

  constructor(path: string, maxBytes: number) {
    this.#database = new DatabaseSync(path, { timeout: 0 });
    try {
      this.#lock(maxBytes);
      this.#insert = this.#database.prepare("INSERT INTO records (key, record) VALUES (?, ?)");
      this.#delete = this.#database.prepare("DELETE FROM records WHERE entry = ?");
      this.#select = this.#database.prepare("SELECT record FROM records WHERE entry = ?");
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  add(key: string, record: string): RecordId {
    this.#walBytes += record.length + 2 * PAGE_BYTES;
    return Number(this.#insert.run(key, record).lastInsertRowid);
  }

  remove(entries: readonly RecordId[]): void {
    this.#transaction(() => {
      for (const entry of entries) this.#delete.run(entry);
    });
    if (this.#walBytes < CHECKPOINT_BYTES) return;
    this.#walBytes = 0;
    this.#database.exec("PRAGMA wal_checkpoint");
  }

  read(entry: RecordId): string | undefined {
    return (this.#select.get(entry) as { record: string } | undefined)?.record;
  }

  keys(): Pick<OrphanedRecord, "entry" | "key">[] {
    const rows = this.#database.prepare("SELECT entry, key FROM records ORDER BY entry").all();
    return rows as { entry: RecordId; key: string }[];
  }

  /** Moves all records of another file to this one; returns their new ids. A kill in between leaves some in both. */
  moveFrom(other: JournalFile): Pick<OrphanedRecord, "entry" | "key">[] {
    const found = other.keys();
    const moved = this.#transaction(() =>
      found.map(({ entry, key }) => ({ entry: this.add(key, other.read(entry)!), key })),
    );
    other.remove(found.map(({ entry }) => entry));
    return moved;
  }

  /** Truncates the WAL, so that removed records are gone from disk. */
  truncateLog(): void {
    this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  close(): void {
    this.#database.close();
  }

  #lock(maxBytes: number): void {
    this.#database.exec(`
      PRAGMA page_size = ${PAGE_BYTES};
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = OFF;
      PRAGMA secure_delete = ON;
      PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
      PRAGMA max_page_count = ${Math.ceil(maxBytes / PAGE_BYTES)};
      BEGIN IMMEDIATE;
      CREATE TABLE IF NOT EXISTS records
        (entry INTEGER PRIMARY KEY, key TEXT NOT NULL, record TEXT NOT NULL) STRICT;
      COMMIT;
    `);
    const check = this.#database.prepare("PRAGMA quick_check(1)").get();
    if (check?.["quick_check"] !== "ok") throw new DamagedJournalError(String(check?.["quick_check"]));
  }

  #transaction<Result>(work: () => Result): Result {
    this.#database.exec("BEGIN");
    try {
      const result = work();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }
}
