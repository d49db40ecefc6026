import { FairQueue, type Queued } from "./fair-queue.ts";
import { Holdings } from "./holdings.ts";
import type { Holder } from "./holder.ts";

export interface FairShareOptions {
  /** What all holders together may have. */
  readonly capacity: number;
  /** How many may wait for some. Default: none. */
  readonly maxWaiting?: number;
}

/** What somebody has. */
export interface Held {
  /** Takes more of it; false if that is not possible now. */
  more(amount: number): boolean;
  /** Gives all of it back. Calling it again has no effect. */
  release(): void;
}

/** Why somebody got nothing: too many wait, or it took too long. */
export class NoShare extends Error {
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
export interface ShareCounts {
  readonly held: number;
  readonly waiting: number;
  readonly waited: number;
  readonly refused: number;
}

interface Waiting {
  readonly amount: number;
  readonly admit: (held: Held) => void;
}

/**
 * Something that several use at once and that has an end, divided among projects first and among the keys of a project
 * second. Nobody waits while there is enough for all (`Holdings`); those that wait get it in turn (`FairQueue`), and the
 * places of the queue are divided in the same way.
 */
export class FairShare {
  readonly #holdings: Holdings;
  readonly #places: Holdings;
  readonly #queue = new FairQueue<Waiting>();
  readonly #idlers: (() => void)[] = [];
  #waited = 0;
  #refused = 0;

  constructor({ capacity, maxWaiting = 0 }: FairShareOptions) {
    this.#holdings = new Holdings(capacity);
    this.#places = new Holdings(maxWaiting);
  }

  get capacity(): number {
    return this.#holdings.capacity;
  }

  counts(): ShareCounts {
    return {
      held: this.#holdings.total,
      waiting: this.#queue.size,
      waited: this.#waited,
      refused: this.#refused,
    };
  }

  /** Takes some now; undefined if that is not possible. */
  tryTake(holder: Holder, amount = 1): Held | undefined {
    if (this.#may(holder, amount)) return this.#hold(holder, amount);
    this.#refused++;
    return undefined;
  }

  /** Takes some, or waits for it. Errors: `NoShare`; the signal's reason, if it aborts first. */
  async take(holder: Holder, { amount = 1, maxWaitMs, signal }: Wait): Promise<Held> {
    signal?.throwIfAborted();
    if (this.#queue.size === 0 && this.#may(holder, amount)) return this.#hold(holder, amount);
    if (!this.#places.fits(1) || !this.#places.isFair(holder, 1)) {
      this.#refused++;
      throw new NoShare("full");
    }
    const { promise, resolve, reject } = Promise.withResolvers<Held>();
    const one: Queued<Waiting> = { holder, cost: amount, value: { amount, admit: resolve } };
    const giveUp = (reason: unknown): void => {
      this.#queue.remove(one);
      reject(reason);
      // a large amount may have kept others from what is left
      this.#admit();
    };
    const aborted = (): void => giveUp(signal?.reason);
    const timer = setTimeout(() => {
      this.#refused++;
      giveUp(new NoShare("late"));
    }, maxWaitMs);
    signal?.addEventListener("abort", aborted, { once: true });
    this.#places.add(holder, 1);
    this.#waited++;
    this.#queue.push(one);
    this.#admit();
    try {
      return await promise;
    } finally {
      this.#places.remove(holder, 1);
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
    }
  }

  /** Resolves when nothing is held. */
  idle(): Promise<void> {
    if (this.#holdings.total === 0) return Promise.resolve();
    return new Promise<void>((resolve) => this.#idlers.push(resolve));
  }

  #may(holder: Holder, amount: number): boolean {
    return this.#holdings.fits(amount) && this.#holdings.isFair(holder, amount);
  }

  #hold(holder: Holder, first: number): Held {
    let held = first;
    let isOpen = true;
    this.#holdings.add(holder, first);
    return {
      more: (amount) => {
        if (!isOpen || !this.#may(holder, amount)) {
          this.#refused++;
          return false;
        }
        held += amount;
        this.#holdings.add(holder, amount);
        return true;
      },
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#holdings.remove(holder, held);
        this.#admit();
        if (this.#holdings.total === 0) for (const idler of this.#idlers.splice(0)) idler();
      },
    };
  }

  /** Serves those that wait, in turn. When too little is left for the one whose turn it is, the others wait for it. */
  #admit(): void {
    while (this.#queue.size > 0) {
      let isFull = false;
      const next = this.#queue.take(({ holder, value: { amount } }) => {
        if (isFull || !this.#holdings.isFair(holder, amount)) return false;
        isFull = !this.#holdings.fits(amount);
        return !isFull;
      });
      if (next === undefined) return;
      next.value.admit(this.#hold(next.holder, next.value.amount));
    }
  }
}
