import { levelsOf, type Tenant } from "./tenant.ts";

export interface Queued<Value> {
  readonly tenant: Tenant;
  /** Service cost, above 0. */
  readonly cost: number;
  readonly value: Value;
}

/** Node of the hierarchy: the root, an entity, a project or a key. */
interface Node<Value> {
  /** Cost served, in virtual time of the parent. */
  served: number;
  /** Virtual time of the children. */
  clock: number;
  /** Queued items in this subtree. */
  waiting: number;
  readonly below: Map<string, Node<Value>>;
  /** FIFO of a key. */
  readonly queued: Queued<Value>[];
}

/**
 * Hierarchical fair queue: entities get equal service, as do projects of an entity and keys of a project; a key is FIFO.
 * Idle time earns no credit. Source: Goyal, Vin, Cheng, "Start-time fair queueing", SIGCOMM 1996, on three levels.
 */
export class FairQueue<Value> {
  #all: Node<Value> = emptyNode();

  get size(): number {
    return this.#all.waiting;
  }

  push(item: Queued<Value>): void {
    this.#enter(item).push(item);
  }

  /** Returns a dequeued item to the head of its key's queue. Its cost stays counted. */
  requeue(item: Queued<Value>): void {
    this.#enter(item).unshift(item);
  }

  /** Dequeues the next item, among the heads of all keys, that satisfies `may`. */
  take(may: (item: Queued<Value>) => boolean): Queued<Value> | undefined {
    const item = dequeueFrom(this.#all, may);
    if (item !== undefined) this.#dequeued(item);
    return item;
  }

  /** Removes an item if it is still queued. */
  remove(item: Queued<Value>): void {
    const queued = this.#path(item).at(-1)?.queued ?? [];
    const at = queued.indexOf(item);
    if (at === -1) return;
    queued.splice(at, 1);
    this.#dequeued(item);
  }

  #enter({ tenant }: Queued<Value>): Queued<Value>[] {
    let node = this.#all;
    node.waiting++;
    for (const name of levelsOf(tenant)) {
      const below = node.below.get(name) ?? emptyNode();
      if (below.waiting === 0) below.served = Math.max(below.served, node.clock);
      node.below.set(name, below);
      below.waiting++;
      node = below;
    }
    return node.queued;
  }

  /** Returns the nodes from the root to an item's key. */
  #path({ tenant }: Queued<Value>): Node<Value>[] {
    const path = [this.#all];
    for (const name of levelsOf(tenant)) {
      const below = path.at(-1)!.below.get(name);
      if (below === undefined) return [];
      path.push(below);
    }
    return path;
  }

  #dequeued(item: Queued<Value>): void {
    for (const node of this.#path(item)) {
      node.waiting--;
      forget(node);
    }
    if (this.size === 0) this.#all = emptyNode();
  }
}

function emptyNode<Value>(): Node<Value> {
  return { served: 0, clock: 0, waiting: 0, below: new Map(), queued: [] };
}

function dequeueFrom<Value>(
  node: Node<Value>,
  may: (item: Queued<Value>) => boolean,
): Queued<Value> | undefined {
  const [first] = node.queued;
  if (first !== undefined) return may(first) ? node.queued.shift() : undefined;
  for (const below of inOrder(node.below)) {
    const item = dequeueFrom(below, may);
    if (item === undefined) continue;
    node.clock = Math.max(node.clock, below.served);
    below.served += item.cost;
    return item;
  }
  return undefined;
}

/** Removes idle children that are not ahead of the virtual time. */
function forget<Value>({ below, clock }: Node<Value>): void {
  for (const [name, { waiting, served }] of below) {
    if (waiting === 0 && served <= clock) below.delete(name);
  }
}

/** Returns children with queued items, least served first. */
function inOrder<Value>(below: ReadonlyMap<string, Node<Value>>): Iterable<Node<Value>> {
  if (below.size === 1) return below.values();
  return [...below.values()]
    .filter(({ waiting }) => waiting > 0)
    .sort((item, other) => item.served - other.served);
}
