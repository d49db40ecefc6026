import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { queryServer, dropDatabases } from "./clickhouse-query.ts";
import { startProcess, type ServiceProcess } from "./service-process.ts";
import { ROOT_KEY } from "./start-app.ts";
import { until } from "./until.ts";

/**
 * The cluster that the environment names. `CLUSTER_URLS`: its replicas, comma-separated; `CLUSTER_NAME`: its name there
 * (sumtree); `CLUSTER_FAULTS`: an executable that takes `kill`, `stop`, `start` or `wipe`, and the number of a replica
 * (1 is the first URL) or `keeper`. `stop` has it hang, `wipe` ends it and takes its disk, `start` undoes each.
 */
const { CLUSTER_URLS = "", CLUSTER_NAME = "sumtree", CLUSTER_FAULTS = "" } = process.env;
const servers = CLUSTER_URLS.split(",").filter((url) => url !== "");

export const testCluster = CLUSTER_NAME;
export const replicaCount = servers.length;
export const hasFaults = CLUSTER_FAULTS !== "";
/** For the names of tests that are skipped. */
export const clusterName =
  replicaCount === 0 ? "no cluster: CLUSTER_URLS is not set" : `${replicaCount} replicas`;

export type Fault = "kill" | "stop" | "start" | "wipe";

export interface TestCluster {
  readonly database: string;
  /** Gives an empty replica the tables of another one of its shard, as docs/cluster.md says. */
  replace(replica: number, by: number): Promise<void>;
  /** The replicas, as `CLICKHOUSE_URL` takes them. Default: all. */
  url(...replicas: readonly number[]): string;
  /** How many statements about this database all replicas were given. */
  ddlCount(): Promise<number>;
  /** Asks one replica past the service. */
  rows<Row>(replica: number, query: string): Promise<Row[]>;
  run(replica: number, statement: string, within?: string): Promise<void>;
  /** A service on these replicas, the first one first. Default: all. */
  start(replicas?: readonly number[], more?: Readonly<Record<string, string>>): Promise<ServiceProcess>;
  settings(replicas?: readonly number[]): Readonly<Record<string, string>>;
  fault(fault: Fault, target: number | "keeper"): Promise<void>;
  /** Everything is there again, and every replica has everything. */
  heal(): Promise<void>;
  /** Ends the services that it has started, and drops the database. */
  close(): Promise<void>;
}

/** How many shards it has; 0 without a cluster. */
export async function countShards(): Promise<number> {
  if (replicaCount === 0) return 0;
  return Number(
    await ask(1, `SELECT max(shard_num) FROM system.clusters WHERE cluster = '${CLUSTER_NAME}'`, ""),
  );
}

/** A database of its own on every replica. */
export async function openCluster(): Promise<TestCluster> {
  const database = `test_${randomUUID().replaceAll("-", "")}`;
  const services: ServiceProcess[] = [];
  const down = new Set<number | "keeper">();
  await ask(1, `CREATE DATABASE ${database} ON CLUSTER '${CLUSTER_NAME}'`, "");

  const url = (...replicas: readonly number[]): string =>
    (replicas.length > 0 ? replicas : servers.map((_, index) => index + 1))
      .map((replica) => Object.assign(new URL(servers[replica - 1]!), { pathname: `/${database}` }).href)
      .join(",");
  const cluster: TestCluster = {
    database,
    async replace(replica, by) {
      const macro = await ask(replica, "SELECT substitution FROM system.macros WHERE macro = 'replica'", "");
      const drop = `SYSTEM DROP REPLICA '${macro.trim()}' FROM DATABASE ${database}`;
      // rejected while its session with the keeper lasts
      await until(() => succeeds(ask(by, drop, "")));
      const names = `SELECT name FROM system.databases WHERE startsWith(name, '${database}')`;
      for (const name of (await ask(by, names, "")).trim().split("\n")) {
        await ask(replica, `CREATE DATABASE IF NOT EXISTS ${name}`, "");
        const tables = `SELECT create_table_query FROM system.tables WHERE database = '${name}' FORMAT TSVRaw`;
        for (const statement of (await ask(by, tables, "")).trim().split("\n"))
          await ask(replica, statement, "");
      }
    },
    url,
    rows: async (replica, query) => {
      const text = await ask(replica, `${query} FORMAT JSONEachRow`, database);
      return text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as never);
    },
    async ddlCount() {
      const text = await ask(
        1,
        `SELECT uniqExact(entry) FROM system.distributed_ddl_queue WHERE position(query, '${database}') > 0`,
        "",
      );
      return Number(text);
    },
    async run(replica, statement, within = database) {
      await ask(replica, statement, within);
    },
    settings: (replicas = []) => ({
      CLICKHOUSE_URL: url(...replicas),
      CLICKHOUSE_CLUSTER: CLUSTER_NAME,
      ROOT_API_KEY: ROOT_KEY,
    }),
    async start(replicas = [], more = {}) {
      const service = await startProcess({ ...cluster.settings(replicas), ...more });
      services.push(service);
      return service;
    },
    async fault(fault, target) {
      if (fault === "start") down.delete(target);
      else down.add(target);
      await promisify(execFile)(CLUSTER_FAULTS, [fault, String(target)], { timeout: 90_000 });
    },
    async heal() {
      for (const target of down) await cluster.fault("start", target);
      for (let replica = 1; replica <= replicaCount; replica++) {
        await until(() => isComplete(replica, database), 150_000);
      }
    },
    async close() {
      for (const service of services) await service.end("SIGKILL");
      await cluster.heal();
      await dropDatabases(servers[0]!, database, CLUSTER_NAME);
    },
  };
  return cluster;
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

/** True if a replica responds, accepts writes, and has nothing left to fetch. */
async function isComplete(replica: number, database: string): Promise<boolean> {
  try {
    const text = await ask(
      replica,
      `SELECT countIf(is_readonly OR queue_size > 0 OR active_replicas < total_replicas) AS n FROM system.replicas WHERE database = '${database}'`,
      "",
    );
    return Number(text) === 0;
  } catch {
    return false;
  }
}

function ask(replica: number, query: string, database: string): Promise<string> {
  return queryServer(servers[replica - 1]!, query, database);
}
