import { levelsOf, type Tenant } from "./tenant.ts";

export interface Queued<Value> {
  readonly tenant: Tenant;
  /** What serving it costs; above 0. */
  readonly cost: number;
  readonly value: Value;
}

/** A level of the hierarchy: the root, an entity, a project or a key. */
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
 * A hierarchical fair queue: entities get equal service, the projects of an entity likewise, and the keys of a project; a
 * key is FIFO. Idle time earns no credit. Source: Goyal, Vin, Cheng, "Start-time fair queueing", SIGCOMM 1996, on three levels.
 */
export class FairQueue<Value> {
  #all: Node<Value> = emptyNode();

  get size(): number {
    return this.#all.waiting;
  }

  push(one: Queued<Value>): void {
    this.#enter(one).push(one);
  }

  /** Puts one back that was taken: it is again the first of its key. What it cost stays counted. */
  requeue(one: Queued<Value>): void {
    this.#enter(one).unshift(one);
  }

  /** Takes the next one for which `may` is true, of those that are the first of their keys. */
  take(may: (one: Queued<Value>) => boolean): Queued<Value> | undefined {
    const one = takeFrom(this.#all, may);
    if (one !== undefined) this.#left(one);
    return one;
  }

  /** Takes one out of the queue, if it is still there. */
  remove(one: Queued<Value>): void {
    const queued = this.#path(one).at(-1)?.queued ?? [];
    const at = queued.indexOf(one);
    if (at === -1) return;
    queued.splice(at, 1);
    this.#left(one);
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

  /** Everybody, and the entity, project and key of one. */
  #path({ tenant }: Queued<Value>): Node<Value>[] {
    const path = [this.#all];
    for (const name of levelsOf(tenant)) {
      const below = path.at(-1)!.below.get(name);
      if (below === undefined) return [];
      path.push(below);
    }
    return path;
  }

  #left(one: Queued<Value>): void {
    for (const node of this.#path(one)) {
      node.waiting--;
      forget(node);
    }
    if (this.size === 0) this.#all = emptyNode();
  }
}

function emptyNode<Value>(): Node<Value> {
  return { served: 0, clock: 0, waiting: 0, below: new Map(), queued: [] };
}

function takeFrom<Value>(node: Node<Value>, may: (one: Queued<Value>) => boolean): Queued<Value> | undefined {
  const [first] = node.queued;
  if (first !== undefined) return may(first) ? node.queued.shift() : undefined;
  for (const below of inOrder(node.below)) {
    const one = takeFrom(below, may);
    if (one === undefined) continue;
    node.clock = Math.max(node.clock, below.served);
    below.served += one.cost;
    return one;
  }
  return undefined;
}

/** Removes idle children that are not ahead of the virtual time. */
function forget<Value>({ below, clock }: Node<Value>): void {
  for (const [name, { waiting, served }] of below) {
    if (waiting === 0 && served <= clock) below.delete(name);
  }
}

/** Those with queued items, least served first. */
function inOrder<Value>(below: ReadonlyMap<string, Node<Value>>): Iterable<Node<Value>> {
  if (below.size === 1) return below.values();
  return [...below.values()]
    .filter(({ waiting }) => waiting > 0)
    .sort((one, other) => one.served - other.served);
}
