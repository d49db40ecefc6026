/** The changes of tables that this process has begun: what was read of a table holds as long as its count. */
export class ChangeCounts {
  readonly #ofTable = new Map<string, Changes>();
  readonly #ofAny: Changes = { begun: 0, running: 0 };

  /** Undefined while a change is running. */
  of(table: string): number | undefined {
    const own = this.#ofTable.get(table) ?? NONE;
    return own.running + this.#ofAny.running > 0 ? undefined : own.begun + this.#ofAny.begun;
  }

  /** Counts a change of a table, undefined for any of them, that may fail at any point. */
  async during<Result>(table: string | undefined, change: () => Promise<Result>): Promise<Result> {
    const changes = table === undefined ? this.#ofAny : this.#changesOf(table);
    changes.begun++;
    changes.running++;
    try {
      return await change();
    } finally {
      changes.running--;
    }
  }

  #changesOf(table: string): Changes {
    const known = this.#ofTable.get(table) ?? { begun: 0, running: 0 };
    this.#ofTable.set(table, known);
    return known;
  }
}

interface Changes {
  begun: number;
  running: number;
}

const NONE: Readonly<Changes> = { begun: 0, running: 0 };
