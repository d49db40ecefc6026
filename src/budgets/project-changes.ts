import type { Project } from "../shared/project.ts";
import type { Engine } from "../store/engine.ts";

const MAX_PROJECTS = 100_000;

/** Tables whose rows change what recorded calls cost, or which there are. */
const TABLES = ["llm_prices", "deletions"];

/** Numbers the changes of projects that other ways than the gateway's recorder make in this process. */
export class ProjectChanges {
  readonly #last = new Map<Project, number>();
  readonly #engine: Pick<Engine, "writeCountOf">;
  readonly #isShared: boolean;
  #count = 0;
  /** Change that projects are assumed to have had which are not remembered. */
  #assumed = 0;

  /** `isShared`: other services use the store. */
  constructor(engine: Pick<Engine, "writeCountOf">, isShared: boolean) {
    this.#engine = engine;
    this.#isShared = isShared;
  }

  /** True if other processes may write to the store. */
  get isShared(): boolean {
    return this.#isShared || this.#engine.writeCountOf("budgets") === undefined;
  }

  /** Call when a write of calls is durable. */
  note(project: Project): void {
    this.#count++;
    if (this.#last.size >= MAX_PROJECTS) {
      this.#last.clear();
      this.#assumed = this.#count;
    }
    this.#last.set(project, this.#count);
  }

  /** Returns a text that differs after a change. */
  stateOf(project: Project): string {
    const writes = TABLES.map((table) => this.#engine.writeCountOf(table));
    return [this.#last.get(project) ?? this.#assumed, ...writes].join();
  }
}
