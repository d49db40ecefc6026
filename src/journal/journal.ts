/** A record's place in the journal. */
export type RecordId = number;

export interface OrphanedRecord {
  readonly entry: RecordId;
  readonly key: string;
  /** When the process that left it wrote for the last time, in milliseconds since the epoch. */
  readonly lastWriteMs: number;
}

/** Keeps on this machine what must outlive the process for a while: until it is stored elsewhere, and removed here. */
export interface Journal {
  /**
   * Adds a record. Once it returns, the end of the process cannot lose the record. The end of the machine can: nothing
   * is synced. Undefined: it could not be written. Cost: 5 µs for a kilobyte.
   */
  add(key: string, record: string): RecordId | undefined;
  /** Removes records. Those that cannot be removed are left to the next process. */
  remove(entries: readonly RecordId[]): void;
  read(entry: RecordId): string | undefined;
  /** What processes that were killed have left, oldest first. */
  readonly orphaned: readonly OrphanedRecord[];
  close(): void;
}
