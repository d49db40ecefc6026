import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { SKIPPING } from "../../store/cluster/missing-replicas.ts";
import type { Engine } from "../../store/engine.ts";
import { StorageError } from "../../store/storage-error.ts";
import { param, sql, trusted, type Sql } from "../../query/sql.ts";

/** Rows of a table to delete or update. */
export interface Change {
  readonly table: string;
  /** Default: `DELETE`. */
  readonly action?: Sql;
  /** Condition for rows of the projects. Default: all. */
  readonly rows?: Sql;
}

/** Mutations that were started together; their commands have the tag. */
export interface Started {
  readonly tag: string;
  /** Shards and tables that have one. */
  readonly places: readonly string[];
}

export interface Mutations {
  /**
   * Starts the mutations of rows of some projects, and does not wait for them. Only rows stored now change, even if a
   * statement is late or repeated.
   */
  start(kind: string, projects: readonly string[], changes: readonly Change[]): Promise<Started>;
  /** Resolves once the store lists them: from then on, a tag that is not `running` is done. */
  shown(started: Started): Promise<void>;
  /** Tags of mutations that are not done on every replica. A replica that is away has done nothing. */
  running(): Promise<ReadonlySet<string>>;
}

const SHOW_WITHIN_MS = 10_000;
const ASK_EVERY_MS = 50;

/** First in each command, before any text of clients. */
const TAG = sql`extract(command, ${param("String", "'([a-z]+ [0-9a-f-]{36})'")})`;
/** Creates the mutations of a store. `cluster`: name of the cluster with replicated tables. */
export function createMutations(engine: Engine, cluster: string | undefined): Mutations {
  /** The shard of each replica. */
  const readShards = async (): Promise<readonly number[]> => {
    if (cluster === undefined) return [1];
    const rows = await engine.rows<{ shard: number }>(
      sql`SELECT shard_num AS shard FROM system.clusters WHERE cluster = ${param("String", cluster)} ORDER BY shard_num, replica_num`,
      { name: "mutations_shards", tables: "local" },
    );
    return rows.map(({ shard }) => shard);
  };
  /** Reads on how many replicas mutations are listed and done, by tag, shard and table. */
  const readStates = async (shards: readonly number[]) => {
    // in `clusterAllReplicas`, `_shard_num` counts replicas
    const [replica, from] =
      cluster === undefined
        ? [sql`1`, sql`system.mutations`]
        : [sql`_shard_num`, trusted(`clusterAllReplicas('${cluster}', system.mutations)`)];
    const rows = await engine.rows<{ tag: string; replica: number; table: string; done: 0 | 1 }>(
      // a subquery, so that it is evaluated on one replica
      sql`SELECT ${TAG} AS tag, ${replica} AS replica, table, is_done AS done FROM ${from}
          WHERE database = (SELECT currentDatabase()) AND tag != '' ${SKIPPING}`,
      { name: "mutations_read", limits: "maintenance", tables: "local" },
    );
    const states = new Map<string, { tag: string; shard: number; place: string; done: number }>();
    for (const { tag, replica: at, table, done } of rows) {
      const shard = shards[at - 1]!;
      const place = `${shard}/${table}`;
      const key = `${tag} ${place}`;
      states.set(key, { tag, shard, place, done: done + (states.get(key)?.done ?? 0) });
    }
    return [...states.values()];
  };

  return {
    async start(kind, projects, changes) {
      const tag = `${kind} ${randomUUID()}`;
      const shards = [...new Set(await readShards())];
      const places: string[] = [];
      for (const change of changes)
        for (const shard of shards)
          if (await startMutation(engine, change, { projects, tag, shard }))
            places.push(`${shard}/${change.table}`);
      return { tag, places };
    },
    async shown({ tag, places }) {
      const shards = await readShards();
      for (let waitedMs = 0; waitedMs < SHOW_WITHIN_MS; waitedMs += ASK_EVERY_MS) {
        const own = (await readStates(shards)).filter((state) => state.tag === tag);
        if (places.every((place) => own.some((state) => state.place === place))) return;
        await delay(ASK_EVERY_MS);
      }
      throw new StorageError("unavailable", "mutations_read", undefined, "a mutation does not show up");
    },
    async running() {
      const shards = await readShards();
      const replicasOf = (shard: number): number => shards.filter((one) => one === shard).length;
      const states = await readStates(shards);
      return new Set(states.filter(({ shard, done }) => done < replicasOf(shard)).map(({ tag }) => tag));
    },
  };
}

interface Target {
  readonly projects: readonly string[];
  readonly tag: string;
  readonly shard: number;
}

/**
 * Starts a mutation of the rows that are stored now, and of no later row; returns false if there are none. It uses the number
 * of the insert that ClickHouse keeps with each row (`_block_number`), so a late or repeated statement changes nothing that was
 * stored after it was built.
 */
async function startMutation(
  engine: Engine,
  { table, action = sql`DELETE`, rows = sql`1` }: Change,
  { projects, tag, shard }: Target,
): Promise<boolean> {
  const name = trusted(table);
  const ofProjects = sql`project_id IN ${param("Array(String)", projects)}`;
  const newest = await engine.rows<{ partition: string; block: number }>(
    sql`SELECT _partition_id AS partition, max(_block_number) AS block FROM ${name}
        WHERE ${ofProjects} GROUP BY partition ORDER BY partition`,
    { name: "mutation_bounds", limits: "maintenance", tables: shard },
  );
  if (newest.length === 0) return false;
  const partitions = newest.map(({ partition }) => partition);
  const ends = newest.map(({ block }) => block + 1);
  await engine.command(
    sql`ALTER TABLE ${name} ${action} WHERE ${param("String", tag)} != '' AND ${ofProjects} AND (${rows}) AND
          _block_number < transform(_partition_id, ${param("Array(String)", partitions)}, ${param("Array(UInt64)", ends)}, toUInt64(0))
        SETTINGS mutations_sync = 0`,
    { name: "mutation_start", tables: shard },
  );
  return true;
}
