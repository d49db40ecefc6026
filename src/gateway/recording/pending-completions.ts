import type { Project } from "../../shared/project.ts";
import { FairQueue } from "../../shares/fair-queue.ts";
import { ALONE, Holdings } from "../../shares/holdings.ts";
import type { Holder } from "../../shares/holder.ts";
import type { EndedCompletion } from "./recorded-completion.ts";

export interface Pending {
  readonly project: Project;
  completion: EndedCompletion;
  /** Of what was asked and said. */
  readonly bytes: number;
  queuedAtMs: number;
  /** What it asked and said is no longer part of it. */
  isBare?: boolean;
  /** A killed process has left it. */
  readonly left: "finished" | "cut" | undefined;
}

/** What a key may have while nobody else has anything. */
export interface PendingLimits {
  readonly maxPendingCalls: number;
  readonly maxPendingBytes: number;
}

/**
 * The completions that wait in memory, or are being written. Places are divided among projects first and keys second, and so
 * are the turns: whoever floods it takes no place of the others, and they do not wait behind it.
 */
export class PendingCompletions {
  readonly #queue = new FairQueue<Pending>();
  readonly #all = new Set<Pending>();
  readonly #calls: Holdings;
  readonly #bytes: Holdings;

  constructor({ maxPendingCalls, maxPendingBytes }: PendingLimits) {
    this.#calls = new Holdings(Math.ceil(maxPendingCalls / ALONE));
    this.#bytes = new Holdings(Math.ceil(maxPendingBytes / ALONE));
  }

  /** With those that are being written. */
  get size(): number {
    return this.#all.size;
  }

  all(): Pending[] {
    return [...this.#all];
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** False: it has no place for it. */
  tryAdd(one: Pending): boolean {
    const holder = holderOf(one);
    if (!this.hasPlace(holder) || !isThere(this.#bytes, holder, one.bytes)) return false;
    this.add(one);
    return true;
  }

  /** Whether one more may wait, however little of it. */
  hasPlace(holder: Holder): boolean {
    return isThere(this.#calls, holder, 1);
  }

  /** Whether it has a place for it or not. */
  add(one: Pending): void {
    this.#all.add(one);
    this.#calls.add(holderOf(one), 1);
    this.#bytes.add(holderOf(one), one.bytes);
    this.#wait(one);
  }

  /** Those whose turn it is. They keep their places. */
  take(most: number): Pending[] {
    const taken: Pending[] = [];
    while (taken.length < most) {
      const next = this.#queue.take(() => true);
      if (next === undefined) break;
      taken.push(next.value);
    }
    return taken;
  }

  /** Of those taken, some wait again, behind the others of their keys, which the store may take; the rest leave. */
  putBack(taken: readonly Pending[], waiting: readonly Pending[]): void {
    for (const one of waiting) this.#wait(one);
    const stays = new Set(waiting);
    for (const one of taken) {
      if (stays.has(one)) continue;
      this.#all.delete(one);
      this.#calls.remove(holderOf(one), 1);
      this.#bytes.remove(holderOf(one), one.bytes);
    }
  }

  #wait(one: Pending): void {
    this.#queue.push({ holder: holderOf(one), cost: 1, value: one });
  }
}

function isThere(places: Holdings, holder: Holder, amount: number): boolean {
  return places.fits(amount) && places.isFair(holder, amount);
}

function holderOf({ project, completion }: Pending): Holder {
  return { project, key: completion.apiKey };
}
