import { param, sql, trusted } from "../../query/sql.ts";
import type { Engine } from "../engine.ts";

/** A replica that is down or hangs does not block a query to all. */
export const SKIPPING =
  trusted(`SETTINGS skip_unavailable_shards = 1, connect_timeout_with_failover_ms = 1000,
  handshake_timeout_ms = 2000, receive_timeout = 5`);

/** Lists the replicas of a cluster that do not respond, as `host:port`. Throws `StorageError`, 701 for an unknown cluster. */
export async function missingReplicas(
  engine: Pick<Engine, "rows">,
  cluster: string,
): Promise<readonly string[]> {
  const replicas = await engine.rows<{ name: string; number: number }>(
    // clusterAllReplicas numbers replicas as shards, in this order
    sql`SELECT concat(host_name, ':', toString(port)) AS name, toUInt32(row_number() OVER (ORDER BY shard_num, replica_num)) AS number
        FROM system.clusters WHERE cluster = ${param("String", cluster)}`,
    { name: "cluster_replicas", tables: "local" },
  );
  const found = await engine.rows<{ number: number }>(
    sql`SELECT DISTINCT _shard_num AS number FROM ${trusted(`clusterAllReplicas('${cluster}', system.one)`)} ${SKIPPING}`,
    { name: "cluster_replicas", limits: "maintenance", tables: "local" },
  );
  return replicas.filter(({ number }) => !found.some((one) => one.number === number)).map(({ name }) => name);
}
