/** Counters of writes begun by this process, per table. */
export class WriteCounters {
  readonly #ofTable = new Map<string, Changes>();
  readonly #ofAny: Changes = { begun: 0, running: 0 };

  /** `undefined` while a write is running. */
  of(table: string): number | undefined {
    const local = this.#ofTable.get(table);
    if (this.#ofAny.running > 0 || (local?.running ?? 0) > 0) return undefined;
    return this.#ofAny.begun + (local?.begun ?? 0);
  }

  /** Counts a write to a table, or to any table if `undefined`; the write may fail at any point. */
  async during<Result>(table: string | undefined, change: () => Promise<Result>): Promise<Result> {
    const changes = this.#changesOf(table);
    changes.begun++;
    changes.running++;
    try {
      return await change();
    } finally {
      changes.running--;
    }
  }

  #changesOf(table: string | undefined): Changes {
    if (table === undefined) return this.#ofAny;
    const known = this.#ofTable.get(table) ?? { begun: 0, running: 0 };
    this.#ofTable.set(table, known);
    return known;
  }
}

interface Changes {
  begun: number;
  running: number;
}
