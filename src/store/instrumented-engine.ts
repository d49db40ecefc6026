import type { Engine, QueryOptions, ReadStats } from "./engine.ts";
import { StorageError, type StorageErrorKind } from "./storage-error.ts";

/** Completed statement. */
export interface StatementEvent {
  /** `QueryOptions.name`. */
  readonly name: string;
  readonly outcome: "ok" | StorageErrorKind;
  readonly seconds: number;
  /** 0 if the engine does not report it. */
  readonly readRows: number;
  readonly readBytes: number;
  readonly writtenRows: number;
}

export interface StatementMeter {
  started(): void;
  ended(event: StatementEvent): void;
}

/** Wraps an engine to report every statement to a meter. */
export function instrumentEngine(engine: Engine, meter: StatementMeter): Engine {
  const measured = async <Result>(
    options: QueryOptions,
    run: (options: QueryOptions) => Promise<Result>,
    writtenRows = 0,
  ): Promise<Result> => {
    const began = performance.now();
    let read: ReadStats = { rows: 0, bytes: 0 };
    let outcome: StatementEvent["outcome"] = "statement";
    meter.started();
    try {
      const result = await run({ ...options, onRead: (stats) => (read = stats) });
      outcome = "ok";
      return result;
    } catch (error) {
      if (error instanceof StorageError) outcome = error.kind;
      throw error;
    } finally {
      meter.ended({
        name: options.name,
        outcome,
        seconds: (performance.now() - began) / 1000,
        readRows: read.rows,
        readBytes: read.bytes,
        writtenRows: outcome === "ok" ? writtenRows : 0,
      });
    }
  };
  return {
    ...engine,
    rows: (query, options) => measured(options, (more) => engine.rows(query, more)),
    bytes: (query, format, options) => measured(options, (more) => engine.bytes(query, format, more)),
    command: (statement, options) => measured(options, (more) => engine.command(statement, more)),
    insert: (table, rows, options) =>
      measured(options, (more) => engine.insert(table, rows, more), rows.length),
  };
}
