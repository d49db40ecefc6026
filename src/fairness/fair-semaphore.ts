import { FairQueue, type Queued } from "./fair-queue.ts";
import { Allocations } from "./allocations.ts";
import type { Tenant } from "./tenant.ts";

export interface FairShareOptions {
  /** What all holders together may have. */
  readonly capacity: number;
  /** How many may wait for some. Default: none. */
  readonly maxWaiting?: number;
}

/** What somebody has. */
export interface Permit {
  /** Takes more of it; false if that is not possible now. */
  more(amount: number): boolean;
  /** Gives all of it back. Calling it again has no effect. */
  release(): void;
}

/** Why somebody got nothing: too many wait, or it took too long. */
export class PermitDenied extends Error {
  readonly reason: "full" | "late";

  constructor(reason: "full" | "late") {
    super(reason === "full" ? "too many wait" : "waited too long");
    this.name = "NoShare";
    this.reason = reason;
  }
}

export interface Wait {
  readonly amount?: number;
  readonly maxWaitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Since the start, and now. */
export interface SemaphoreStats {
  readonly held: number;
  readonly waiting: number;
  readonly waited: number;
  readonly refused: number;
}

interface Waiting {
  readonly amount: number;
  readonly admit: (held: Permit) => void;
}

/**
 * Something that several use at once and that has an end, divided among projects first and among the keys of a project
 * second. Nobody waits while there is enough for all (`Holdings`); those that wait get it in turn (`FairQueue`), and the
 * places of the queue are divided in the same way.
 */
export class FairSemaphore {
  readonly #allocations: Allocations;
  readonly #places: Allocations;
  readonly #queue = new FairQueue<Waiting>();
  readonly #idlers: (() => void)[] = [];
  #waited = 0;
  #refused = 0;

  constructor({ capacity, maxWaiting = 0 }: FairShareOptions) {
    this.#allocations = new Allocations(capacity);
    this.#places = new Allocations(maxWaiting);
  }

  get capacity(): number {
    return this.#allocations.capacity;
  }

  counts(): SemaphoreStats {
    return {
      held: this.#allocations.total,
      waiting: this.#queue.size,
      waited: this.#waited,
      refused: this.#refused,
    };
  }

  /** Takes some now; undefined if that is not possible. */
  tryAcquire(tenant: Tenant, amount = 1): Permit | undefined {
    if (this.#may(tenant, amount)) return this.#hold(tenant, amount);
    this.#refused++;
    return undefined;
  }

  /** Takes some, or waits for it. Errors: `NoShare`; the signal's reason, if it aborts first. */
  async acquire(tenant: Tenant, { amount = 1, maxWaitMs, signal }: Wait): Promise<Permit> {
    signal?.throwIfAborted();
    if (this.#queue.size === 0 && this.#may(tenant, amount)) return this.#hold(tenant, amount);
    if (!this.#places.fits(1) || !this.#places.leavesHeadroom(tenant, 1)) {
      this.#refused++;
      throw new PermitDenied("full");
    }
    const { promise, resolve, reject } = Promise.withResolvers<Permit>();
    const one: Queued<Waiting> = { tenant, cost: amount, value: { amount, admit: resolve } };
    const giveUp = (reason: unknown): void => {
      this.#queue.remove(one);
      reject(reason);
      // a large amount may have kept others from what is left
      this.#admit();
    };
    const aborted = (): void => giveUp(signal?.reason);
    const timer = setTimeout(() => {
      this.#refused++;
      giveUp(new PermitDenied("late"));
    }, maxWaitMs);
    signal?.addEventListener("abort", aborted, { once: true });
    this.#places.add(tenant, 1);
    this.#waited++;
    this.#queue.push(one);
    this.#admit();
    try {
      return await promise;
    } finally {
      this.#places.remove(tenant, 1);
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
    }
  }

  /** Resolves when nothing is held. */
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
          this.#refused++;
          return false;
        }
        held += amount;
        this.#allocations.add(tenant, amount);
        return true;
      },
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#allocations.remove(tenant, held);
        this.#admit();
        if (this.#allocations.total === 0) for (const idler of this.#idlers.splice(0)) idler();
      },
    };
  }

  /** Serves those that wait, in turn. When too little is left for the one whose turn it is, the others wait for it. */
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
