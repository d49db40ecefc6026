import { LRUCache } from "lru-cache";
import type { Project } from "../../shared/project.ts";

interface Known {
  readonly generation: string;
  /** Number of the read. */
  readonly turn: number;
}

/** Cache of project generations. Of two overlapping reads the one that began later wins, whichever ends first. */
export class GenerationCache {
  readonly #known: LRUCache<Project, Known>;
  #turns = 0;

  constructor(maxProjects: number) {
    this.#known = new LRUCache({ max: maxProjects });
  }

  /** Numbers a read that begins now. */
  begin(): number {
    return ++this.#turns;
  }

  /** Stores the result of a read. */
  put(turn: number, read: ReadonlyMap<Project, string>): void {
    for (const [project, generation] of read) {
      const known = this.#known.get(project);
      if (known === undefined || known.turn < turn) this.#known.set(project, { generation, turn });
    }
  }

  generationOf(project: Project): string | undefined {
    return this.#known.get(project)?.generation;
  }
}
