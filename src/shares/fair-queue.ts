import type { Holder } from "./holder.ts";

export interface Queued<Value> {
  readonly holder: Holder;
  /** What serving it costs; above 0. */
  readonly cost: number;
  readonly value: Value;
}

interface Lane<Value> {
  /** What it was served, and had missed before it came. */
  served: number;
  readonly queued: Queued<Value>[];
}

interface OfProject<Value> {
  served: number;
  readonly lanes: Map<string, Lane<Value>>;
  queued: number;
  /** How far the service of its keys has come. */
  clock: number;
}

/**
 * Who is served next: projects in turn, each as much as any other, and the keys of a project likewise; of a key, first
 * come, first served. Who comes late has missed nothing, and who was just served waits for the others.
 * Source: Goyal, Vin, Cheng, "Start-time fair queueing", SIGCOMM 1996, on two levels.
 */
export class FairQueue<Value> {
  readonly #projects = new Map<string, OfProject<Value>>();
  #clock = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(one: Queued<Value>): void {
    this.#enter(one).queued.push(one);
  }

  /** Puts one back that was taken: it is again the first of its key. What it cost stays counted. */
  putBack(one: Queued<Value>): void {
    this.#enter(one).queued.unshift(one);
  }

  /** Takes the next one for which `may` is true, of those that are the first of their keys. */
  take(may: (one: Queued<Value>) => boolean): Queued<Value> | undefined {
    for (const project of inOrder(this.#projects)) {
      if (project.queued === 0) continue;
      for (const lane of inOrder(project.lanes)) {
        const one = lane.queued[0];
        if (one === undefined || !may(one)) continue;
        this.#clock = Math.max(this.#clock, project.served);
        project.clock = Math.max(project.clock, lane.served);
        project.served += one.cost;
        lane.served += one.cost;
        this.#leave(one, 0);
        return one;
      }
    }
    return undefined;
  }

  /** Takes one out of the queue, if it is still there. */
  remove(one: Queued<Value>): void {
    const at = this.#projects.get(one.holder.project)?.lanes.get(one.holder.key)?.queued.indexOf(one) ?? -1;
    if (at !== -1) this.#leave(one, at);
  }

  #enter({ holder }: Queued<Value>): Lane<Value> {
    const project = this.#projects.get(holder.project) ?? {
      served: 0,
      lanes: new Map<string, Lane<Value>>(),
      queued: 0,
      clock: 0,
    };
    const lane = project.lanes.get(holder.key) ?? { served: 0, queued: [] };
    if (project.queued === 0) project.served = Math.max(project.served, this.#clock);
    if (lane.queued.length === 0) lane.served = Math.max(lane.served, project.clock);
    this.#projects.set(holder.project, project);
    project.lanes.set(holder.key, lane);
    project.queued++;
    this.#size++;
    return lane;
  }

  #leave({ holder }: Queued<Value>, at: number): void {
    const project = this.#projects.get(holder.project)!;
    project.lanes.get(holder.key)!.queued.splice(at, 1);
    project.queued--;
    this.#size--;
    this.#forget();
  }

  /** Forgets who waits for nothing and has been served no more than the others. */
  #forget(): void {
    if (this.#size === 0) {
      this.#projects.clear();
      this.#clock = 0;
    }
    for (const [name, project] of this.#projects) {
      if (project.queued === 0 && project.served <= this.#clock) this.#projects.delete(name);
      for (const [key, lane] of project.lanes) {
        if (lane.queued.length === 0 && lane.served <= project.clock) project.lanes.delete(key);
      }
    }
  }
}

function inOrder<One extends { served: number }>(all: ReadonlyMap<string, One>): Iterable<One> {
  return all.size === 1 ? all.values() : [...all.values()].sort((one, other) => one.served - other.served);
}
