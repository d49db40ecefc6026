import type { Tenant } from "./tenant.ts";

export interface Queued<Value> {
  readonly tenant: Tenant;
  /** Service cost, above 0. */
  readonly cost: number;
  readonly value: Value;
}

interface Line<Value> {
  /** Cost served, in virtual time. */
  served: number;
  readonly items: Queued<Value>[];
}

/**
 * Fair queue: entities get equal service; within an entity it is FIFO. Idle time earns no credit. Source: Goyal, Vin, Cheng,
 * "Start-time fair queueing", SIGCOMM 1996.
 */
export class FairQueue<Value> {
  readonly #lines = new Map<string, Line<Value>>();
  #clock = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(item: Queued<Value>): void {
    this.#enter(item).push(item);
  }

  /** Dequeues the next item that satisfies `may`; those of one key stay in order. */
  take(may: (item: Queued<Value>) => boolean): Queued<Value> | undefined {
    const waiting = [...this.#lines].filter(([, { items }]) => items.length > 0);
    for (const [entity, line] of waiting.sort(([, one], [, other]) => one.served - other.served)) {
      const item = firstOf(line.items, may);
      if (item === undefined) continue;
      this.#clock = Math.max(this.#clock, line.served);
      line.served += item.cost;
      this.#leave(entity, line, item);
      return item;
    }
    return undefined;
  }

  /** Removes an item if it is still queued. */
  remove(item: Queued<Value>): void {
    const { entity } = item.tenant;
    const line = this.#lines.get(entity);
    if (line?.items.includes(item) === true) this.#leave(entity, line, item);
  }

  #enter({ tenant: { entity } }: Queued<Value>): Queued<Value>[] {
    const line = this.#lines.get(entity) ?? { served: 0, items: [] };
    if (line.items.length === 0) line.served = Math.max(line.served, this.#clock);
    this.#lines.set(entity, line);
    this.#size++;
    return line.items;
  }

  #leave(entity: string, { items, served }: Line<Value>, item: Queued<Value>): void {
    items.splice(items.indexOf(item), 1);
    if (--this.#size === 0) this.#lines.clear();
    else if (items.length === 0 && served <= this.#clock) this.#lines.delete(entity);
  }
}

/** Returns the first item that may pass, of each key only the first. */
function firstOf<Value>(
  items: readonly Queued<Value>[],
  may: (item: Queued<Value>) => boolean,
): Queued<Value> | undefined {
  const blocked = new Set<string>();
  return items.find((item) => {
    const { key } = item.tenant;
    if (!blocked.has(key) && may(item)) return true;
    blocked.add(key);
    return false;
  });
}
