import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import type { Engine } from "../engine.ts";
import { shardsInEnding } from "../cluster/shards/shards.ts";

/** Replica of the cluster, as seen by the queried server. */
export interface ClusterNode {
  /** `host:port`, as in the cluster's definition. */
  readonly name: string;
  readonly shard: number;
  /** Its `{replica}` macro; `undefined` if it does not respond. */
  readonly macro: string | undefined;
  readonly hasDatabase: boolean;
  /** Weight of its shard in the cluster definition. */
  readonly weight: number;
  /** Shard counts of its distributed databases: none for one shard; more than one is an inconsistency. */
  readonly shardCounts: readonly number[];
  readonly tables: readonly NodeTable[];
}

export interface NodeTable {
  readonly name: string;
  /** CREATE TABLE statement with its UUID. */
  readonly statement: string;
  /** ClickHouse Keeper path; `undefined` if not replicated. */
  readonly keeperPath: string | undefined;
}

/** Timeouts, so that a hung server does not delay the survey. */
const settings = trusted(`SETTINGS skip_unavailable_shards = 1, connect_timeout_with_failover_ms = 1000,
  handshake_timeout_ms = 2000, receive_timeout = 5, show_table_uuid_in_table_create_query_if_not_nil = 1`);

/** Reads what each replica has in this database, without ClickHouse Keeper. Throws `StorageError`, 701 for an unknown cluster. */
export async function surveyCluster(engine: Engine, cluster: string): Promise<readonly ClusterNode[]> {
  const query = <Row>(text: Sql): Promise<Row[]> =>
    engine.rows<Row>(sql`${text} ${settings}`, {
      name: "cluster_survey",
      limits: "maintenance",
      tables: "local",
    });
  // clusterAllReplicas numbers replicas as shards, in the order of `system.clusters`
  const everywhere = (table: string): Sql => trusted(`clusterAllReplicas('${cluster}', system.${table})`);
  const here = sql`database = (SELECT currentDatabase())`;

  const macros = await query<{ node: number; named: string }>(
    sql`SELECT _shard_num AS node, substitution AS named FROM ${everywhere("macros")} WHERE macro = 'replica'`,
  );
  const tables = await query<TableRow>(
    sql`SELECT _shard_num AS node, name, create_table_query AS statement
        FROM ${everywhere("tables")} WHERE ${here} ORDER BY name`,
  );
  // after the tables: the distributed database is created before the first table, so a seen table implies it
  const databases = await query<{ node: number; ending: string }>(
    sql`SELECT _shard_num AS node, substring(name, length((SELECT currentDatabase())) + 1) AS ending
        FROM ${everywhere("databases")} WHERE startsWith(name, (SELECT currentDatabase()))`,
  );
  const paths = await query<{ node: number; table: string; path: string }>(
    sql`SELECT _shard_num AS node, table, zookeeper_path AS path FROM ${everywhere("replicas")} WHERE ${here}`,
  );
  const nodes = await query<{ name: string; shard: number; weight: number }>(
    sql`SELECT concat(host_name, ':', toString(port)) AS name, shard_num AS shard, shard_weight AS weight FROM system.clusters
        WHERE cluster = ${param("String", cluster)} ORDER BY shard_num, replica_num`,
  );
  return nodes.map(({ name, shard, weight }, index) => ({
    name,
    shard,
    weight,
    macro: macros.find((row) => row.node === index + 1)?.named,
    hasDatabase: databases.some((row) => row.node === index + 1 && row.ending === ""),
    shardCounts: databases.flatMap((row) => {
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
