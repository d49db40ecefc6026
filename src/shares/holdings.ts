import type { Holder } from "./holder.ts";

/** How much one may have of what the others have left: some is left for whoever comes next. */
const PART = 3 / 4;

/** How much a key may have while nobody else has anything. */
export const ALONE = PART * PART;

interface OfProject {
  total: number;
  readonly keys: Map<string, number>;
}

/**
 * Who has how much of something there is `capacity` of. All of it can be in use, though a project may have only three
 * quarters of what other projects leave, and a key three quarters of what other keys of its project leave to it. So a
 * project that comes late finds something, however much the others hold and however long. A project that has nothing
 * may take an amount of any size, if there is as much.
 */
export class Holdings {
  readonly capacity: number;
  readonly #projects = new Map<string, OfProject>();
  #total = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get total(): number {
    return this.#total;
  }

  fits(amount: number): boolean {
    return this.#total + amount <= this.capacity;
  }

  /** Whether a holder with so much more would leave enough to the others. */
  isFair({ project, key }: Holder, amount: number): boolean {
    const ofProject = this.#projects.get(project);
    if (ofProject === undefined) return true;
    const forProject = PART * (this.capacity - (this.#total - ofProject.total));
    if (ofProject.total + amount > forProject) return false;
    const ofKey = ofProject.keys.get(key);
    return ofKey === undefined || ofKey + amount <= PART * (forProject - (ofProject.total - ofKey));
  }

  add({ project, key }: Holder, amount: number): void {
    if (amount === 0) return;
    const ofProject = this.#projects.get(project) ?? { total: 0, keys: new Map<string, number>() };
    this.#projects.set(project, ofProject);
    ofProject.keys.set(key, (ofProject.keys.get(key) ?? 0) + amount);
    ofProject.total += amount;
    this.#total += amount;
  }

  remove({ project, key }: Holder, amount: number): void {
    if (amount === 0) return;
    const ofProject = this.#projects.get(project)!;
    const left = ofProject.keys.get(key)! - amount;
    if (left > 0) ofProject.keys.set(key, left);
    else ofProject.keys.delete(key);
    ofProject.total -= amount;
    if (ofProject.keys.size === 0) this.#projects.delete(project);
    this.#total -= amount;
  }
}
