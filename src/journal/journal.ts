/** Id of a journal record. */
export type RecordId = number;

export interface JournalRecord {
  readonly key: string;
  readonly text: string;
}

export interface OrphanedRecord {
  readonly id: RecordId;
  readonly key: string;
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
