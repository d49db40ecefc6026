import type { Project } from "../../shared/project.ts";
import { FairQueue } from "../../fairness/fair-queue.ts";
import { SINGLE_KEY_SHARE, Allocations } from "../../fairness/allocations.ts";
import type { Tenant } from "../../fairness/tenant.ts";
import type { EndedCompletion } from "./recorded-completion.ts";

export interface Pending {
  readonly project: Project;
  completion: EndedCompletion;
  /** Size of inputs and output. */
  readonly bytes: number;
  queuedAtMs: number;
  /** Inputs and output were dropped; counts remain. */
  isBare?: boolean;
  /** Recovered from the journal of a killed process. */
  readonly orphaned: "finished" | "cut" | undefined;
}

/** Limits of pending key on an otherwise idle queue. */
export interface PendingLimits {
  readonly maxPendingCalls: number;
  readonly maxPendingBytes: number;
}

/**
 * Completions in memory, waiting or being written. Capacity and turns are divided among projects first and keys second, so
 * a flood from pending key neither displaces nor delays others.
 */
export class PendingCompletions {
  readonly #queue = new FairQueue<Pending>();
  readonly #all = new Set<Pending>();
  /** Held back until `release`. */
  readonly #held = new Set<Pending>();
  readonly #calls: Allocations;
  readonly #bytes: Allocations;

  constructor({ maxPendingCalls, maxPendingBytes }: PendingLimits) {
    this.#calls = new Allocations(Math.ceil(maxPendingCalls / SINGLE_KEY_SHARE));
    this.#bytes = new Allocations(Math.ceil(maxPendingBytes / SINGLE_KEY_SHARE));
  }

  /** Includes completions being written. */
  get size(): number {
    return this.#all.size;
  }

  all(): Pending[] {
    return [...this.#all];
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Adds a completion, to be written after `release` if `isHeld`; false if its tenant has no capacity. */
  tryAdd(pending: Pending, isHeld = false): boolean {
    const tenant = tenantOf(pending);
    if (!this.hasCapacity(tenant) || !hasCapacityFor(this.#bytes, tenant, pending.bytes)) return false;
    this.add(pending, isHeld);
    return true;
  }

  /** Queues held completions. */
  release(held: readonly Pending[]): void {
    for (const pending of held) if (this.#held.delete(pending)) this.#wait(pending);
  }

  /** True if the tenant may queue pending more completion of any size. */
  hasCapacity(tenant: Tenant): boolean {
    return hasCapacityFor(this.#calls, tenant, 1);
  }

  /** Adds a completion regardless of capacity. */
  add(pending: Pending, isHeld = false): void {
    this.#all.add(pending);
    this.#calls.add(tenantOf(pending), 1);
    this.#bytes.add(tenantOf(pending), pending.bytes);
    if (isHeld) this.#held.add(pending);
    else this.#wait(pending);
  }

  /** Dequeues up to `most` completions in fair order. They count against capacity until `putBack`. */
  take(most: number): Pending[] {
    const taken: Pending[] = [];
    while (taken.length < most) {
      const next = this.#queue.take(() => true);
      if (next === undefined) break;
      taken.push(next.value);
    }
    return taken;
  }

  /** Requeues `waiting` behind other completions of their keys and releases the rest of `taken`. */
  putBack(taken: readonly Pending[], waiting: readonly Pending[]): void {
    for (const pending of waiting) this.#wait(pending);
    const stays = new Set(waiting);
    for (const pending of taken) {
      if (stays.has(pending)) continue;
      this.#all.delete(pending);
      this.#calls.remove(tenantOf(pending), 1);
      this.#bytes.remove(tenantOf(pending), pending.bytes);
    }
  }

  #wait(pending: Pending): void {
    this.#queue.push({ tenant: tenantOf(pending), cost: 1, value: pending });
  }
}

function hasCapacityFor(allocations: Allocations, tenant: Tenant, amount: number): boolean {
  return allocations.fits(amount) && allocations.leavesHeadroom(tenant, amount);
}

function tenantOf({ project, completion }: Pending): Tenant {
  return { project, key: completion.apiKey };
}
