import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import type { Engine } from "../engine.ts";
import { shardsInEnding } from "../cluster/shards/shards.ts";

/** One replica of the cluster, as seen by the queried server. */
export interface ClusterNode {
  /** `host:port`, as in the cluster's definition. */
  readonly name: string;
  readonly shard: number;
  /** Its `{replica}` macro; undefined: it does not answer. */
  readonly macro: string | undefined;
  readonly hasDatabase: boolean;
  /** Its shard's, in the cluster's definition. */
  readonly weight: number;
  /** For how many shards its rows are arranged, if for several: one number, unless somebody has meddled. */
  readonly arrangedFor: readonly number[];
  readonly tables: readonly NodeTable[];
}

export interface NodeTable {
  readonly name: string;
  /** How it was made, its UUID included. */
  readonly statement: string;
  /** Its path in the keeper; undefined if it is not replicated. */
  readonly keeperPath: string | undefined;
}

/** A server that is stopped, and not dead, must not hold up the others. */
const settings = trusted(`SETTINGS skip_unavailable_shards = 1, connect_timeout_with_failover_ms = 1000,
  handshake_timeout_ms = 2000, receive_timeout = 5, show_table_uuid_in_table_create_query_if_not_nil = 1`);

/** What every replica of a cluster has in this database. Asks no keeper. Errors: `StorageError`, 701 for an unknown cluster. */
export async function surveyCluster(engine: Engine, cluster: string): Promise<readonly ClusterNode[]> {
  const ask = <Row>(query: Sql): Promise<Row[]> =>
    engine.rows<Row>(sql`${query} ${settings}`, {
      name: "cluster_survey",
      limits: "maintenance",
      tables: "local",
    });
  // Each replica counts as a shard there; they come in the order of `system.clusters`.
  const everywhere = (table: string): Sql => trusted(`clusterAllReplicas('${cluster}', system.${table})`);
  const here = sql`database = (SELECT currentDatabase())`;

  const macros = await ask<{ node: number; named: string }>(
    sql`SELECT _shard_num AS node, substitution AS named FROM ${everywhere("macros")} WHERE macro = 'replica'`,
  );
  const tables = await ask<TableRow>(
    sql`SELECT _shard_num AS node, name, create_table_query AS statement
        FROM ${everywhere("tables")} WHERE ${here} ORDER BY name`,
  );
  // the second database is made before the first table: who sees a table must not miss it
  const databases = await ask<{ node: number; ending: string }>(
    sql`SELECT _shard_num AS node, substring(name, length((SELECT currentDatabase())) + 1) AS ending
        FROM ${everywhere("databases")} WHERE startsWith(name, (SELECT currentDatabase()))`,
  );
  const paths = await ask<{ node: number; table: string; path: string }>(
    sql`SELECT _shard_num AS node, table, zookeeper_path AS path FROM ${everywhere("replicas")} WHERE ${here}`,
  );
  const nodes = await ask<{ name: string; shard: number; weight: number }>(
    sql`SELECT concat(host_name, ':', toString(port)) AS name, shard_num AS shard, shard_weight AS weight FROM system.clusters
        WHERE cluster = ${param("String", cluster)} ORDER BY shard_num, replica_num`,
  );
  return nodes.map(({ name, shard, weight }, index) => ({
    name,
    shard,
    weight,
    macro: macros.find((row) => row.node === index + 1)?.named,
    hasDatabase: databases.some((row) => row.node === index + 1 && row.ending === ""),
    arrangedFor: databases.flatMap((row) => {
      const shards = row.node === index + 1 ? shardsInEnding(row.ending) : undefined;
      return shards === undefined ? [] : [shards];
    }),
    tables: tables
      .filter((row) => row.node === index + 1)
      .map((row) => ({
        name: row.name,
        statement: row.statement,
        keeperPath: paths.find((path) => path.node === row.node && path.table === row.name)?.path,
      })),
  }));
}

interface TableRow {
  readonly node: number;
  readonly name: string;
  readonly statement: string;
}
