import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectServer } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { until } from "../helpers/until.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import {
  clusterName,
  clusterOfTests,
  countShards,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";

const CALLS = 300;
const carry = { callsPerSlice: 100 };
const shardCount = await countShards();
const replicas = Array.from({ length: replicaCount }, (_, index) => index + 1);

class Cut extends Error {}

/**
 * How a start ends: with everything in place, or cut off. A start that a loaded machine lets see no replica is one more that
 * has to be repeated.
 */
async function start(store: Engine, engine: Engine): Promise<"done" | "cut" | "away"> {
  await until(async () => (await engine.health()).writes === undefined, 60_000);
  try {
    await migrate(store, { cluster: clusterOfTests, carry });
    return "done";
  } catch (error) {
    if (error instanceof Cut) return "cut";
    expect(error).toBeInstanceOf(StorageError);
    expect((error as StorageError).kind).toMatch(/^(unavailable|read_only)$/);
    return "away";
  }
}

/** Stops before a statement that `isLast` says. */
function cutBefore(engine: Engine, isLast: (name: string) => boolean): Engine {
  const hear = async (name: string): Promise<void> => {
    if (isLast(name)) throw new Cut(name);
  };
  return {
    ...engine,
    rows: async (query, options) => hear(options.name).then(() => engine.rows(query, options)),
    command: async (statement, options) => hear(options.name).then(() => engine.command(statement, options)),
    insert: async (table, rows, options) =>
      hear(options.name).then(() => engine.insert(table, rows, options)),
  };
}

/** A service's store, with a replica that it uses first. */
function openStore(cluster: TestCluster, first: number): Engine {
  const urls = [first, ...replicas.filter((replica) => replica !== first)].map((replica) =>
    cluster.url(replica),
  );
  return connectServer(urls, { cluster: clusterOfTests });
}

describe.skipIf(replicaCount === 0 || shardCount > 1)(
  `carrying calls over into the order of time on ${clusterName}`,
  () => {
    let cluster: TestCluster;
    beforeAll(async () => {
      cluster = await openCluster();
    });
    afterAll(() => cluster?.close());

    /** Every column of every call, however they lie. */
    async function contents(replica: number): Promise<unknown> {
      const columns = `* EXCEPT (${(await has(replica, "hour")) ? "project_id, hour, api_key, fingerprint" : "project_id"})`;
      const key = "toString(project_id), trace_id, id";
      const [row] = await cluster.rows(
        replica,
        `SELECT count() AS calls, toString(sum(cityHash64(${key}, formatRowNoNewline('JSONEachRow', ${columns}, toString(project_id) AS p)))) AS sum
         FROM (SELECT * FROM calls FINAL ORDER BY project_id, trace_id, id)`,
      );
      return row;
    }

    async function has(replica: number, column: string): Promise<boolean> {
      const rows = await cluster.rows(
        replica,
        `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'calls' AND name = '${column}'`,
      );
      return rows.length > 0;
    }

    /** Starts and ends in rows of their own, over half a year; some calls are open, some have no start. */
    async function fill(): Promise<void> {
      const began = `toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + number * 51839 + number / 1000000`;
      const key = `concat('acme/p', toString(number % 3)), concat('t', toString(intDiv(number, 7) * 7919 % 1000)), toString(number)`;
      const first = replicas[0]!;
      const last = replicas.at(-1)!;
      await cluster.run(
        first,
        `INSERT INTO calls (project_id, trace_id, id, op_name, started_at, inputs)
         SELECT ${key}, 'op', ${began}, concat('{"n":', toString(number), '}') FROM numbers(${CALLS}) WHERE number % 100 != 1`,
      );
      await cluster.run(
        last,
        `INSERT INTO calls (project_id, trace_id, id, ended_at, output, usage)
         SELECT ${key}, ${began} + 90000, '"é"', '[]' FROM numbers(${CALLS}) WHERE number % 10 != 0`,
      );
      for (const replica of replicas) await cluster.run(replica, "SYSTEM SYNC REPLICA calls");
    }

    it("loses and doubles nothing when services with other replicas go on where one was cut off", async () => {
      const random = seededRandom();
      const stores = replicas.map((first) => openStore(cluster, first));
      try {
        const old = cutBefore(stores[0]!, (name) => name === "migrate_0012");
        while ((await start(old, stores[0]!)) === "away");
        await fill();
        const expected = await contents(1);
        expect(expected).toMatchObject({ calls: CALLS });
        let cuts = 0;
        for (let starts = 0, end = ""; end !== "done"; starts++) {
          expect(starts).toBeLessThan(60);
          const engine = stores[starts % stores.length]!;
          // more statements than the start before, so that it comes to an end
          let left = 12 + starts * 3 + Math.floor(random.next() * 6);
          end = await start(
            cutBefore(engine, () => left-- <= 0),
            engine,
          );
          if (end === "cut") cuts++;
        }
        expect(cuts).toBeGreaterThan(5);
        for (const replica of replicas) {
          await cluster.run(replica, "SYSTEM SYNC REPLICA calls");
          expect(await contents(replica)).toEqual(expected);
          const tables =
            "calls_by_trace', 'calls_in_time', 'call_traces_by_id', 'call_traces_in_time', 'calls_carried_over";
          expect(
            await cluster.rows(
              replica,
              `SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN ('${tables}')`,
            ),
          ).toEqual([]);
          for (const table of ["trace_hours", "call_traces", "call_hours", "spanning_traces"]) {
            await cluster.run(replica, `SYSTEM SYNC REPLICA ${table}`);
          }
          expect(await cluster.rows(replica, UNNOTED)).toEqual([
            { traces: 0, spanning: 0, calls: 0, started: 0, ended: 0 },
          ]);
        }
      } finally {
        for (const store of stores) await store.close();
      }
    });
  },
);

const atHour = (instant: string): string => `intDiv(toUnixTimestamp(assumeNotNull(${instant})), 3600)`;
/** Calls that no look-up would find. */
const UNNOTED = `SELECT
  toInt32(countIf((project_id, trace_id, hour) NOT IN (SELECT project_id, trace_id, hour FROM trace_hours))) AS traces,
  toInt32(countIf((project_id, trace_id) IN (SELECT project_id, trace_id FROM calls GROUP BY project_id, trace_id HAVING uniqExact(hour) > 1)
    AND (project_id, hour, trace_id) NOT IN (SELECT project_id, hour, trace_id FROM spanning_traces))) AS spanning,
  toInt32(countIf(started_at IS NOT NULL AND (project_id, id, trace_id, hour) NOT IN
    (SELECT project_id, id, trace_id, hour FROM call_traces))) AS calls,
  toInt32(countIf(started_at IS NOT NULL AND (project_id, 'started', ${atHour("started_at")}, hour) NOT IN
    (SELECT project_id, kind, at_hour, hour FROM call_hours))) AS started,
  toInt32(countIf(ended_at IS NOT NULL AND (project_id, 'ended', ${atHour("ended_at")}, hour) NOT IN
    (SELECT project_id, kind, at_hour, hour FROM call_hours))) AS ended
  FROM calls FINAL`;
