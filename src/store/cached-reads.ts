import { render, type Sql } from "../query/sql.ts";
import type { Engine, QueryOptions } from "./engine.ts";
import { TableCache, type TableState } from "./table-cache.ts";

/** Bytes per set of tables. */
const MAX_CACHED = 16 * 1024 * 1024;
const BYTES_PER_ROW = 1024;

/** Caches the results of reads with `QueryOptions.dependsOn`. */
export function cacheReads(engine: Engine): Engine {
  const caches = new Map<string, TableCache<Buffer | object[]>>();
  const read = async <Result extends Buffer | object[]>(
    query: Sql,
    { format, dependsOn: tables }: { readonly format: string } & Pick<QueryOptions, "dependsOn">,
    send: () => Promise<Result>,
  ): Promise<Result> => {
    if (tables === undefined) return send();
    const states = { writeCountOf: () => stateOf(engine, tables) };
    if (states.writeCountOf() === undefined) return send();
    const name = tables.join();
    const cache = caches.get(name) ?? new TableCache(states, name, MAX_CACHED, bytesOf);
    caches.set(name, cache);
    const { text, params } = render(query);
    return (await cache.read(JSON.stringify([format, text, params]), send)) as Result;
  };
  return {
    ...engine,
    rows: <Row>(query: Sql, options: QueryOptions) =>
      read(query, { ...options, format: "" }, () => engine.rows<Row & object>(query, options)),
    bytes: (query, format, options) =>
      read(query, { ...options, format }, () => engine.bytes(query, format, options)),
  };
}

/** The sum of counts that never decrease; `undefined` if one is. */
function stateOf(engine: Engine, tables: readonly string[]): TableState {
  const counts = tables.map((table) => engine.writeCountOf(table));
  return counts.reduce((sum, count) => (sum === undefined || count === undefined ? undefined : sum + count));
}

function bytesOf(value: Buffer | object[], key: string): number {
  return key.length + (Buffer.isBuffer(value) ? value.length : value.length * BYTES_PER_ROW);
}
