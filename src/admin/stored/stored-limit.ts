import type { Engine } from "../../store/engine.ts";
import { AppError } from "../../shared/errors.ts";
import { Allocations } from "../../fairness/allocations.ts";
import { readStoredBytes } from "./read-stored-bytes.ts";

/** Stored bytes count for the project, whichever key sent them. */
const ofProject = (project: string) => ({ project, key: "" });

/** Bytes that all projects may store together, divided fairly (`Allocations`). */
export class StoredLimit {
  readonly #engine: Pick<Engine, "rows">;
  readonly #capacity: number;
  #held: Allocations;

  constructor(engine: Pick<Engine, "rows">, capacity: number) {
    this.#engine = engine;
    this.#capacity = capacity;
    this.#held = new Allocations(capacity);
  }

  /** Stored bytes of all projects, as last read. */
  get bytes(): number {
    return this.#held.total;
  }

  /** Replaces the known sizes. Other processes store and delete too, so sizes are read, never counted. */
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
