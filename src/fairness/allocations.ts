import { levelsOf, type Tenant } from "./tenant.ts";

/** Largest fraction of free capacity one tenant may hold; the rest is left for new tenants. */
export const MAX_FREE_FRACTION = 5 / 6;

/** Fraction of the capacity one key may hold while nobody else holds anything. */
export const SINGLE_KEY_SHARE = MAX_FREE_FRACTION ** 3;

interface Node {
  total: number;
  readonly children: Map<string, Node>;
}

const emptyNode = (): Node => ({ total: 0, children: new Map() });

/**
 * Allocations of a fixed capacity. An entity may hold five sixths of what other entities leave free, a project five sixths
 * of what other projects of its entity leave, and a key likewise: a late tenant always finds some free capacity, and an
 * entity gains nothing by creating projects. A tenant without an allocation may take any amount that fits.
 */
export class Allocations {
  readonly capacity: number;
  readonly #all = emptyNode();

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get total(): number {
    return this.#all.total;
  }

  fits(amount: number): boolean {
    return this.total + amount <= this.capacity;
  }

  /** True if `amount` more for this tenant leaves enough free capacity for others. */
  leavesHeadroom(tenant: Tenant, amount: number): boolean {
    let limit = this.capacity;
    let parent = this.#all;
    for (const name of levelsOf(tenant)) {
      const node = parent.children.get(name);
      if (node === undefined) return true;
      limit = MAX_FREE_FRACTION * (limit - (parent.total - node.total));
      if (node.total + amount > limit) return false;
      parent = node;
    }
    return true;
  }

  add(tenant: Tenant, amount: number): void {
    if (amount === 0) return;
    let node = this.#all;
    node.total += amount;
    for (const name of levelsOf(tenant)) {
      const child = node.children.get(name) ?? emptyNode();
      node.children.set(name, child);
      child.total += amount;
      node = child;
    }
  }

  remove(tenant: Tenant, amount: number): void {
    if (amount === 0) return;
    let node = this.#all;
    node.total -= amount;
    for (const name of levelsOf(tenant)) {
      const child = node.children.get(name)!;
      child.total -= amount;
      if (child.total === 0) {
        node.children.delete(name);
        return;
      }
      node = child;
    }
  }
}
