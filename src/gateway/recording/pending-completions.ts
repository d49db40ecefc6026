import type { Project } from "../../shared/project.ts";
import { FairQueue } from "../../fairness/fair-queue.ts";
import { SINGLE_KEY_SHARE, Allocations } from "../../fairness/allocations.ts";
import type { Tenant } from "../../fairness/tenant.ts";
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
  readonly #calls: Allocations;
  readonly #bytes: Allocations;

  constructor({ maxPendingCalls, maxPendingBytes }: PendingLimits) {
    this.#calls = new Allocations(Math.ceil(maxPendingCalls / SINGLE_KEY_SHARE));
    this.#bytes = new Allocations(Math.ceil(maxPendingBytes / SINGLE_KEY_SHARE));
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
    const tenant = tenantOf(one);
    if (!this.hasPlace(tenant) || !isThere(this.#bytes, tenant, one.bytes)) return false;
    this.add(one);
    return true;
  }

  /** Whether one more may wait, however little of it. */
  hasPlace(tenant: Tenant): boolean {
    return isThere(this.#calls, tenant, 1);
  }

  /** Whether it has a place for it or not. */
  add(one: Pending): void {
    this.#all.add(one);
    this.#calls.add(tenantOf(one), 1);
    this.#bytes.add(tenantOf(one), one.bytes);
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
      this.#calls.remove(tenantOf(one), 1);
      this.#bytes.remove(tenantOf(one), one.bytes);
    }
  }

  #wait(one: Pending): void {
    this.#queue.push({ tenant: tenantOf(one), cost: 1, value: one });
  }
}

function isThere(places: Allocations, tenant: Tenant, amount: number): boolean {
  return places.fits(amount) && places.leavesHeadroom(tenant, amount);
}

function tenantOf({ project, completion }: Pending): Tenant {
  return { project, key: completion.apiKey };
}
