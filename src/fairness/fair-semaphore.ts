import { FairQueue, type Queued } from "./fair-queue.ts";
import type { Tenant } from "./tenant.ts";

export interface FairSemaphoreOptions {
  /** Total units. */
  readonly capacity: number;
  /** Maximum number of waiters. Default: 0. */
  readonly maxWaiting?: number;
}

/** Permit: capacity that a tenant holds until `release`. */
export interface Permit {
  /** Acquires more units; false if not available now. */
  more(amount: number): boolean;
  /** Releases all units. Idempotent. */
  release(): void;
}

/** Acquisition failure. `full`: too many waiters; `late`: timed out. */
export class PermitDenied extends Error {
  readonly reason: "full" | "late";

  constructor(reason: "full" | "late") {
    super(reason === "full" ? "too many waiters" : "timed out");
    this.name = "PermitDenied";
    this.reason = reason;
  }
}

export interface Wait {
  readonly amount?: number;
  readonly maxWaitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Units and waiters now; `rejected` since the start. */
export interface SemaphoreStats {
  readonly held: number;
  readonly waiting: number;
  readonly rejected: number;
}

/** Largest fraction of free capacity one entity may hold; the rest is left for others. */
const ENTITY_SHARE = 5 / 6;
/** Largest fraction of free capacity one key may hold. */
export const KEY_SHARE = 1 / 2;

/** Allocations of a fixed capacity. */
class Allocations {
  readonly capacity: number;
  readonly #held = new Map<string, number>();
  total = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  fits(amount: number): boolean {
    return this.total + amount <= this.capacity;
  }

  /** True if `amount` more leaves enough for others. An entity, or its key, without an allocation may take any amount. */
  leavesHeadroom({ entity, key }: Tenant, amount: number): boolean {
    const ofEntity = this.#held.get(entity) ?? 0;
    const free = this.capacity - (this.total - ofEntity);
    if (ofEntity > 0 && ofEntity + amount > ENTITY_SHARE * free) return false;
    const ofKey = this.#held.get(nameOf(entity, key)) ?? 0;
    return ofKey === 0 || ofKey + amount <= KEY_SHARE * free;
  }

  /** Adds an amount, or removes a negative one. */
  add({ entity, key }: Tenant, amount: number): void {
    this.total += amount;
    for (const name of [entity, nameOf(entity, key)]) {
      const held = (this.#held.get(name) ?? 0) + amount;
      if (held === 0) this.#held.delete(name);
      else this.#held.set(name, held);
    }
  }
}

/** Name of a key, which no entity has. */
const nameOf = (entity: string, key: string): string => `${entity}/${key}`;

interface Waiting {
  readonly amount: number;
  readonly admit: (held: Permit) => void;
}

/**
 * Weighted semaphore divided fairly among entities: one may hold five sixths of what the others leave free, and a key
 * half. Waiters are served in fair order (`FairQueue`), and queue slots are divided the same way.
 */
export class FairSemaphore {
  readonly #allocations: Allocations;
  readonly #slots: Allocations;
  readonly #queue = new FairQueue<Waiting>();
  readonly #idlers: (() => void)[] = [];
  #rejected = 0;

  constructor({ capacity, maxWaiting = 0 }: FairSemaphoreOptions) {
    this.#allocations = new Allocations(capacity);
    this.#slots = new Allocations(maxWaiting);
  }

  get capacity(): number {
    return this.#allocations.capacity;
  }

  counts(): SemaphoreStats {
    return {
      held: this.#allocations.total,
      waiting: this.#queue.size,
      rejected: this.#rejected,
    };
  }

  /** Acquires units; `undefined` if not available now. */
  tryAcquire(tenant: Tenant, amount = 1): Permit | undefined {
    if (this.#may(tenant, amount)) return this.#hold(tenant, amount);
    this.#rejected++;
    return undefined;
  }

  /** Acquires units, waiting up to `maxWaitMs`. Throws `PermitDenied`, or the signal's reason if it aborts first. */
  async acquire(tenant: Tenant, { amount = 1, maxWaitMs, signal }: Wait): Promise<Permit> {
    signal?.throwIfAborted();
    if (this.#queue.size === 0 && this.#may(tenant, amount)) return this.#hold(tenant, amount);
    if (!this.#slots.fits(1) || !this.#slots.leavesHeadroom(tenant, 1)) {
      this.#rejected++;
      throw new PermitDenied("full");
    }
    const { promise, resolve, reject } = Promise.withResolvers<Permit>();
    const waiter: Queued<Waiting> = { tenant, cost: amount, value: { amount, admit: resolve } };
    const fail = (reason: unknown): void => {
      this.#queue.remove(waiter);
      reject(reason);
      // a large waiter may have blocked others
      this.#admit();
    };
    const aborted = (): void => fail(signal?.reason);
    const timer = setTimeout(() => {
      this.#rejected++;
      fail(new PermitDenied("late"));
    }, maxWaitMs);
    signal?.addEventListener("abort", aborted, { once: true });
    this.#slots.add(tenant, 1);
    this.#queue.push(waiter);
    this.#admit();
    try {
      return await promise;
    } finally {
      this.#slots.add(tenant, -1);
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
    }
  }

  /** Resolves when no units are held. */
  idle(): Promise<void> {
    if (this.#allocations.total === 0) return Promise.resolve();
    return new Promise<void>((resolve) => this.#idlers.push(resolve));
  }

  #may(tenant: Tenant, amount: number): boolean {
    return this.#allocations.fits(amount) && this.#allocations.leavesHeadroom(tenant, amount);
  }

  #hold(tenant: Tenant, first: number): Permit {
    let held = first;
    let isOpen = true;
    this.#allocations.add(tenant, first);
    return {
      more: (amount) => {
        if (!isOpen || !this.#may(tenant, amount)) {
          this.#rejected++;
          return false;
        }
        held += amount;
        this.#allocations.add(tenant, amount);
        return true;
      },
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#allocations.add(tenant, -held);
        this.#admit();
        if (this.#allocations.total === 0) for (const idler of this.#idlers.splice(0)) idler();
      },
    };
  }

  /** Serves waiters in fair order. A waiter that does not fit yet blocks later ones. */
  #admit(): void {
    while (this.#queue.size > 0) {
      let isFull = false;
      const next = this.#queue.take(({ tenant, value: { amount } }) => {
        if (isFull || !this.#allocations.leavesHeadroom(tenant, amount)) return false;
        isFull = !this.#allocations.fits(amount);
        return !isFull;
      });
      if (next === undefined) return;
      next.value.admit(this.#hold(next.tenant, next.value.amount));
    }
  }
}
