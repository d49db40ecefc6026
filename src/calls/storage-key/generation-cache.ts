import { LRUCache } from "lru-cache";
import type { Project } from "../../shared/project.ts";

interface Known {
  readonly generation: string;
  /** The read that brought it. */
  readonly turn: number;
}

/** The fences of projects as they were last read. Of two reads that overlap, the one that began later counts, whichever ends first. */
export class GenerationCache {
  readonly #known: LRUCache<Project, Known>;
  #turns = 0;

  constructor(maxProjects: number) {
    this.#known = new LRUCache({ max: maxProjects });
  }

  /** A number for a read that begins now. */
  begin(): number {
    return ++this.#turns;
  }

  /** Remembers what a read brought. */
  learn(turn: number, read: ReadonlyMap<Project, string>): void {
    for (const [project, generation] of read) {
      const known = this.#known.get(project);
      if (known === undefined || known.turn < turn) this.#known.set(project, { generation, turn });
    }
  }

  generationOf(project: Project): string | undefined {
    return this.#known.get(project)?.generation;
  }
}
