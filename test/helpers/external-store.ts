import { randomUUID } from "node:crypto";
import { connectServer } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { queryServer, dropDatabases } from "./clickhouse-query.ts";

/**
 * A store that tests use instead of the embedded engine. `STORE_URLS`: servers of a cluster, comma-separated;
 * `STORE_CLUSTER`: its name there.
 */
const { STORE_URLS = "", STORE_CLUSTER = "sumtree" } = process.env;
const servers = STORE_URLS.split(",").filter((url) => url !== "");

export const hasExternalStore = servers.length > 0;
export const externalCluster = hasExternalStore ? STORE_CLUSTER : undefined;

/** Settings of a service that uses the external store. */
export function externalStoreSettings(rootKey: string): Readonly<Record<string, string>> {
  if (!hasExternalStore) return {};
  return { CLICKHOUSE_URL: STORE_URLS, CLICKHOUSE_CLUSTER: STORE_CLUSTER, ROOT_API_KEY: rootKey };
}

/** A database of its own there, migrated. */
export async function openExternalStore(): Promise<{ engine: Engine; close(): Promise<void> }> {
  const database = `test_${randomUUID().replaceAll("-", "")}`;
  await queryServer(servers[0]!, `CREATE DATABASE ${database} ON CLUSTER '${STORE_CLUSTER}'`);
  const urls = servers.map((url) => Object.assign(new URL(url), { pathname: `/${database}` }).href);
  const engine = connectServer(urls, { cluster: STORE_CLUSTER });
  await migrate(engine, { cluster: STORE_CLUSTER });
  return {
    engine,
    async close() {
      await engine.close();
      await dropDatabases(servers[0]!, database, STORE_CLUSTER);
    },
  };
}
