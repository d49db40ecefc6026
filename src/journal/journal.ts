/** Id of a journal record. */
export type RecordId = number;

export interface OrphanedRecord {
  readonly entry: RecordId;
  readonly key: string;
  /** Last write of the killed process, in milliseconds since the epoch. */
  readonly lastWriteMs: number;
}

/** Local durable buffer of records until they are stored elsewhere. */
export interface Journal {
  /**
   * Adds a record. It then survives the end of the process, but not of the machine: nothing is fsynced. Returns `undefined`
   * if it could not be written. Cost: 5 µs per kilobyte.
   */
  add(key: string, record: string): RecordId | undefined;
  /** Removes records. Failed removals are left to the next process. */
  remove(entries: readonly RecordId[]): void;
  read(entry: RecordId): string | undefined;
  /** Records of killed processes, oldest first. */
  readonly orphaned: readonly OrphanedRecord[];
  close(): void;
}
