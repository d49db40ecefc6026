import { levelsOf, type Tenant } from "./tenant.ts";

/** How much one may have of what the others have left: some is left for whoever comes next. */
export const MAX_FREE_FRACTION = 5 / 6;

/** How much a key may have while nobody else has anything. */
export const SINGLE_KEY_SHARE = MAX_FREE_FRACTION ** 3;

interface Node {
  total: number;
  readonly below: Map<string, Node>;
}

const emptyNode = (): Node => ({ total: 0, below: new Map() });

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

  /** Whether a holder with so much more would leave enough to the others. */
  leavesHeadroom(tenant: Tenant, amount: number): boolean {
    let { capacity: most } = this;
    let above = this.#all;
    for (const name of levelsOf(tenant)) {
      const node = above.below.get(name);
      if (node === undefined) return true;
      most = MAX_FREE_FRACTION * (most - (above.total - node.total));
      if (node.total + amount > most) return false;
      above = node;
    }
    return true;
  }

  add(tenant: Tenant, amount: number): void {
    if (amount === 0) return;
    let node = this.#all;
    node.total += amount;
    for (const name of levelsOf(tenant)) {
      const below = node.below.get(name) ?? emptyNode();
      node.below.set(name, below);
      below.total += amount;
      node = below;
    }
  }

  remove(tenant: Tenant, amount: number): void {
    if (amount === 0) return;
    let node = this.#all;
    node.total -= amount;
    for (const name of levelsOf(tenant)) {
      const below = node.below.get(name)!;
      below.total -= amount;
      if (below.total === 0) {
        node.below.delete(name);
        return;
      }
      node = below;
    }
  }
}
