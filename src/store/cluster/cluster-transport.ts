import type { StoreHealth, TableScope } from "../engine.ts";
import { StorageError } from "../storage-error.ts";
import { Failover } from "../transport/failover.ts";
import type { StatementResult, Transport } from "../transport/transport.ts";
import type { StoreServer } from "./store-server.ts";

/** Called when another server serves statements; `undefined`: none does. */
export type OnSwitch = (server: string | undefined) => void;

/** Creates a transport over the servers of CLICKHOUSE_URL; one of them serves, and one of each shard its local tables. */
export function createClusterTransport(
  servers: readonly StoreServer[],
  onSwitch: OnSwitch | undefined,
): Transport {
  const failoverOf = (shard?: number): Failover<StoreServer> =>
    new Failover(servers, {
      catchUp: (server) => server.catchUp(shard),
      check: (server) => server.check(),
      ...(shard === undefined ? { onSwitch: (server) => onSwitch?.(server?.name) } : {}),
    });
  const entry = failoverOf();
  const ofShards: Failover<StoreServer>[] = [];
  /** Transports of the shards that a statement addresses. */
  const addressed = async (tables: TableScope | undefined): Promise<readonly Failover<StoreServer>[]> => {
    if (tables === undefined || tables === "local") return [entry];
    const shards = (await entry.serving()).shards;
    if (shards === 1) return [entry];
    while (ofShards.length < shards) ofShards.push(failoverOf(ofShards.length + 1));
    return tables === "per_shard" ? ofShards.slice(0, shards) : [ofShards[tables - 1]!];
  };
  return {
    async read(query, options) {
      const results: StatementResult[] = [];
      for (const one of await addressed(options.tables)) results.push(await one.read(query, options));
      return concatResults(results);
    },
    async command(statement, options) {
      for (const one of await addressed(options.tables)) await one.command(statement, options);
    },
    async insert(insert, options) {
      for (const one of await addressed(options.tables)) await one.insert(insert, options);
    },
    async health() {
      try {
        const all = [entry, ...(await addressed("per_shard"))];
        const healths = await Promise.all([...new Set(all)].map(healthOf));
        return { reads: undefined, writes: healths.find((problem) => problem !== undefined) };
      } catch (error) {
        const problem = error instanceof StorageError ? error.detail : String(error);
        return { reads: problem, writes: problem } satisfies StoreHealth;
      }
    },
    async close() {
      await Promise.all([entry, ...ofShards, ...servers].map((one) => one.close()));
    },
  };
}

/** The problem of writes. Throws `StorageError` if there is one of reads. */
async function healthOf(one: Failover<StoreServer>): Promise<string | undefined> {
  return (await one.serving()).writeProblem();
}

/** Concatenates results: all formats of `Engine` allow it. */
function concatResults(results: readonly StatementResult[]): StatementResult {
  return {
    bytes: results.length === 1 ? results[0]!.bytes : Buffer.concat(results.map(({ bytes }) => bytes)),
    readRows: results.reduce((sum, { readRows }) => sum + readRows, 0),
    readBytes: results.reduce((sum, { readBytes }) => sum + readBytes, 0),
  };
}
