import type { Engine } from "../../src/store/engine.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { interceptStatements } from "./intercept-statements.ts";

/** Fate of a statement: executed; not executed; executed, but its response is lost. */
export type StatementFate = "done" | "refused" | "untold";

/** The engine, except that `fateOf` decides about every statement. A refusal is what an unreachable store gives. */
export function faultyEngine(engine: Engine, fateOf: (name: string) => StatementFate): Engine {
  return interceptStatements(engine, async (name, run) => {
    const fate = fateOf(name);
    const gone = new StorageError("unavailable", name, undefined, "the store is away");
    if (fate === "refused") throw gone;
    const result = await run();
    if (fate === "untold") throw gone;
    return result;
  });
}
