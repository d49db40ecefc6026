import { setImmediate as nextTurn } from "node:timers/promises";
import type { Engine } from "../../src/store/engine.ts";

/** More turns of the event loop than a request on loopback needs. */
const TURNS = 200;

export interface BlockedStatement {
  /** The engine on which statements of that name wait. */
  readonly engine: Engine;
  /** How many have begun. */
  count(): number;
  /** Lets all of them run, and returns when whoever waited for them has gone on. */
  release(): Promise<void>;
}

/** Holds the statements of a name back until they are released. */
export function blockStatement(inner: Engine, name: string): BlockedStatement {
  const gate = Promise.withResolvers<void>();
  const responses: Promise<unknown>[] = [];
  const rows: Engine["rows"] = (query, options) => {
    if (options.name !== name) return inner.rows(query, options);
    const response = gate.promise.then(() => inner.rows<never>(query, options));
    responses.push(response);
    return response;
  };
  return {
    engine: { ...inner, rows },
    count: () => responses.length,
    async release() {
      gate.resolve();
      await Promise.all(responses);
      for (let turn = 0; turn < TURNS; turn++) await nextTurn();
    },
  };
}
