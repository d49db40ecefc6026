import type { Engine } from "../../store/engine.ts";
import { AppError } from "../../shared/errors.ts";
import { Allocations } from "../../fairness/allocations.ts";
import { readStoredBytes } from "./read-stored-bytes.ts";

/** Stored bytes count for the project, whichever key sent them. */
const ofProject = (project: string) => ({ project, key: "" });

/** Limit of stored bytes, divided fairly among projects (`Allocations`). */
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

  /** Replaces the sizes. They are read, never counted, because other processes store and delete too. */
  async read(): Promise<void> {
    const held = new Allocations(this.#capacity);
    for (const [project, bytes] of await readStoredBytes(this.#engine)) held.add(ofProject(project), bytes);
    this.#held = held;
  }

  /** Throws `storage_full` if the project may not store more. */
  check(project: string): void {
    if (this.#held.fits(1) && this.#held.leavesHeadroom({ project, key: "more" }, 1)) return;
    throw new AppError(
      "storage_full",
      "This project stores as much as it may. Delete some of it, or have the limit raised.",
    );
  }
}
