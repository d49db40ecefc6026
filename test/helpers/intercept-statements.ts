import type { Engine } from "../../src/store/engine.ts";

/** Interceptor of a statement; `run` runs it, `signal` cancels it. */
export type Around = <Result>(
  name: string,
  run: () => Promise<Result>,
  signal: AbortSignal | undefined,
) => Promise<Result>;

/** The engine, with `around` at each of its statements. */
export function interceptStatements(engine: Engine, around: Around): Engine {
  return {
    rows: (query, options) => around(options.name, () => engine.rows(query, options), options.signal),
    bytes: (query, format, options) =>
      around(options.name, () => engine.bytes(query, format, options), options.signal),
    command: (statement, options) =>
      around(options.name, () => engine.command(statement, options), options.signal),
    insert: (table, rows, options) =>
      around(options.name, () => engine.insert(table, rows, options), options.signal),
    writeCountOf: (table) => engine.writeCountOf(table),
    version: () => around("version", () => engine.version(), undefined),
    health: () => engine.health(),
    close: () => engine.close(),
  };
}
