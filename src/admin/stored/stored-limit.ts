import type { Engine } from "../../store/engine.ts";
import { AppError } from "../../shared/errors.ts";
import { Allocations } from "../../fairness/allocations.ts";
import { readStoredBytes } from "./read-stored-bytes.ts";

/** What is stored belongs to its project, whichever key sent it. */
const ofProject = (project: string) => ({ project, key: "" });

/** What all projects may store together, divided among them as everything that they share (`Holdings`). */
export class StoredLimit {
  readonly #engine: Pick<Engine, "rows">;
  readonly #capacity: number;
  #held: Allocations;

  constructor(engine: Pick<Engine, "rows">, capacity: number) {
    this.#engine = engine;
    this.#capacity = capacity;
    this.#held = new Allocations(capacity);
  }

  /** Of all projects, as it was when it was last read. */
  get bytes(): number {
    return this.#held.total;
  }

  /** What projects store can only be read, since others store and delete as well. */
  async read(): Promise<void> {
    const held = new Allocations(this.#capacity);
    for (const [project, bytes] of await readStoredBytes(this.#engine)) held.add(ofProject(project), bytes);
    this.#held = held;
  }

  /** Errors: storage_full, unless the project may store more. */
  check(project: string): void {
    if (this.#held.fits(1) && this.#held.leavesHeadroom({ project, key: "more" }, 1)) return;
    throw new AppError(
      "storage_full",
      "This project stores as much as it may. Delete some of it, or have the limit raised.",
    );
  }
}
