import type { Engine } from "../../src/store/engine.ts";
import { StorageError } from "../../src/store/storage-error.ts";

/** What becomes of one statement: done; not done; done, but its answer is lost. */
export type Fate = "done" | "refused" | "untold";

/** The engine, except that `fateOf` decides about every statement. A refusal is what an unreachable store gives. */
export function faultyEngine(engine: Engine, fateOf: (name: string) => Fate): Engine {
  const run = async <Result>(name: string, statement: () => Promise<Result>): Promise<Result> => {
    const fate = fateOf(name);
    const gone = new StorageError("unavailable", name, undefined, "the store is away");
    if (fate === "refused") throw gone;
    const result = await statement();
    if (fate === "untold") throw gone;
    return result;
  };
  return {
    rows: (query, options) => run(options.name, () => engine.rows(query, options)),
    bytes: (query, format, options) => run(options.name, () => engine.bytes(query, format, options)),
    command: (statement, options) => run(options.name, () => engine.command(statement, options)),
    insert: (table, rows, options) => run(options.name, () => engine.insert(table, rows, options)),
    changesOf: (table) => engine.changesOf(table),
    version: () => run("version", () => engine.version()),
    health: () => engine.health(),
    close: () => engine.close(),
  };
}
