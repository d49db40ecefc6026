import { LRUCache } from "lru-cache";
import type { Project } from "../../shared/project.ts";

interface Known {
  readonly generation: string;
  /** Sequence number of the read. */
  readonly sequence: number;
}

/** Cache of project generations. Of overlapping reads, the last one to begin wins, whichever ends first. */
export class GenerationCache {
  readonly #known: LRUCache<Project, Known>;
  #lastSequence = 0;

  constructor(maxProjects: number) {
    this.#known = new LRUCache({ max: maxProjects });
  }

  /** Returns the sequence number of a read that begins now. */
  begin(): number {
    return ++this.#lastSequence;
  }

  /** Stores the generations that a read returned. */
  put(sequence: number, generations: ReadonlyMap<Project, string>): void {
    for (const [project, generation] of generations) {
      const known = this.#known.get(project);
      if (known === undefined || known.sequence < sequence)
        this.#known.set(project, { generation, sequence });
    }
  }

  generationOf(project: Project): string | undefined {
    return this.#known.get(project)?.generation;
  }
}
