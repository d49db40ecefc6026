import { LRUCache } from "lru-cache";
import type { Engine } from "./engine.ts";

/** The state of a table before something is read of it or written to it. */
export type TableState = number | undefined;

/**
 * What was read of a table, or written to it, until somebody else changes it. Only where a single process writes
 * (`Engine.changesOf`): of a store with other writers nothing is remembered.
 */
export class TableCache<Value extends string | true | object> {
  readonly #known: LRUCache<string, Value>;
  readonly #engine: Pick<Engine, "writeCountOf">;
  readonly #table: string;
  /** The state in which all that is remembered holds. */
  #state: TableState;

  /** `max`: how many values are remembered, or what they weigh together, a whole number each. */
  constructor(
    engine: Pick<Engine, "writeCountOf">,
    table: string,
    max: number,
    weightOf?: (value: Value, key: string) => number,
  ) {
    this.#engine = engine;
    this.#table = table;
    this.#known = new LRUCache(
      weightOf === undefined ? { max } : { maxSize: max, sizeCalculation: weightOf },
    );
  }

  /** To be called before a read or a write whose outcome is to be remembered. */
  begin(): TableState {
    return this.#engine.writeCountOf(this.#table);
  }

  get(key: string): Value | undefined {
    const state = this.begin();
    return state === undefined || state !== this.#state ? undefined : this.#known.get(key);
  }

  /** What a read gives: it is made unless that is remembered. */
  async read(key: string, make: () => Promise<Value>): Promise<Value> {
    const known = this.get(key);
    if (known !== undefined) return known;
    const began = this.begin();
    const made = await make();
    this.put(began, 0, [[key, made]]);
    return made;
  }

  /** Whether nothing but so many inserts of one's own has changed the table since `began`. */
  isUnchanged(began: TableState, ownInserts: number): boolean {
    return began !== undefined && this.begin() === began + ownInserts;
  }

  /**
   * Remembers what is so after a read, and after so many inserts of one's own, unless the table was changed otherwise
   * since `began`. The inserts must have changed nothing but what these keys say.
   */
  put(began: TableState, ownInserts: number, entries: Iterable<readonly [string, Value]>): void {
    if (began === undefined || !this.isUnchanged(began, ownInserts)) return;
    const state = began + ownInserts;
    if (this.#state !== began && this.#state !== state) this.#known.clear();
    this.#state = state;
    for (const [key, value] of entries) this.#known.set(key, value);
  }
}
