import { LRUCache } from "lru-cache";
import type { Engine } from "./engine.ts";

/** `Engine.writeCountOf` a table before a read or write. */
export type TableState = number | undefined;

/**
 * Cache of values read from or written to a table, valid until the table changes otherwise. Empty unless this process is
 * the only writer (`Engine.writeCountOf`).
 */
export class TableCache<Value extends string | true | object> {
  readonly #known: LRUCache<string, Value>;
  readonly #engine: Pick<Engine, "writeCountOf">;
  readonly #table: string;
  /** Table state for which all cached values are valid. */
  #state: TableState;

  /** `max`: maximum number of values, or their maximum total weight (integers). */
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

  /** Call before a read or write whose result will be `put`. */
  begin(): TableState {
    return this.#engine.writeCountOf(this.#table);
  }

  get(key: string): Value | undefined {
    const state = this.begin();
    return state === undefined || state !== this.#state ? undefined : this.#known.get(key);
  }

  /** Returns the cached value, or caches the result of `make`. */
  async read(key: string, make: () => Promise<Value>): Promise<Value> {
    const known = this.get(key);
    if (known !== undefined) return known;
    const began = this.begin();
    const made = await make();
    this.put(began, 0, [[key, made]]);
    return made;
  }

  /** True if only `ownInserts` writes have changed the table since `began`. */
  isUnchanged(began: TableState, ownInserts: number): boolean {
    return began !== undefined && this.begin() === began + ownInserts;
  }

  /**
   * Caches values that hold after a read and `ownInserts` inserts of the caller, unless the table was changed otherwise since
   * `began`. The inserts must affect only these keys.
   */
  put(began: TableState, ownInserts: number, entries: Iterable<readonly [string, Value]>): void {
    if (began === undefined || !this.isUnchanged(began, ownInserts)) return;
    const state = began + ownInserts;
    if (this.#state !== began && this.#state !== state) this.#known.clear();
    this.#state = state;
    for (const [key, value] of entries) this.#known.set(key, value);
  }
}
