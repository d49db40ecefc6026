import type { Engine } from "../../src/clickhouse/engine.ts";
import { StorageError } from "../../src/clickhouse/storage-error.ts";

export interface OutageEngine extends Engine {
  /** While true, every statement is refused as if the store were not there. */
  away: boolean;
}

/** The engine port over another engine that can be away. */
export function withOutages(engine: Engine): OutageEngine {
  const refuse = (name: string): void => {
    if (outage.away) throw new StorageError("unavailable", name, undefined, "the store is away");
  };
  const outage: OutageEngine = {
    away: false,
    async rows(query, options) {
      refuse(options.name);
      return engine.rows(query, options);
    },
    async bytes(query, format, options) {
      refuse(options.name);
      return engine.bytes(query, format, options);
    },
    async command(statement, options) {
      refuse(options.name);
      return engine.command(statement, options);
    },
    async insert(table, rows, options) {
      refuse(options.name);
      return engine.insert(table, rows, options);
    },
    async version() {
      refuse("version");
      return engine.version();
    },
    close: () => engine.close(),
  };
  return outage;
}
