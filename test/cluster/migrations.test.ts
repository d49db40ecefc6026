import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectServer } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { Interruption, interruptBefore, LATER } from "../helpers/later-migration.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import {
  clusterName,
  testCluster,
  countShards,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";
import { until } from "../helpers/until.ts";

const CALLS = 300;
const shardCount = await countShards();
const replicas = Array.from({ length: replicaCount }, (_, index) => index + 1);
const options = { cluster: testCluster, later: [LATER] };

/**
 * How a start ends: with everything in place, or cut off. A start that a loaded machine lets see no replica is one more that
 * has to be repeated.
 */
async function start(store: Engine, engine: Engine): Promise<"done" | "cut" | "away"> {
  await until(async () => (await engine.health()).writes === undefined, 60_000);
  try {
    await migrate(store, options);
    return "done";
  } catch (error) {
    if (error instanceof Interruption) return "cut";
    expect(error).toBeInstanceOf(StorageError);
    expect((error as StorageError).kind).toMatch(/^(unavailable|read_only)$/);
    return "away";
  }
}

describe.skipIf(replicaCount === 0 || shardCount > 1)(`migrations on ${clusterName}`, () => {
  let cluster: TestCluster;
  /** Engines of services, each of which uses another replica first. */
  let stores: readonly Engine[];
  beforeAll(async () => {
    cluster = await openCluster();
    stores = replicas.map((first) => {
      const urls = [first, ...replicas.filter((replica) => replica !== first)];
      return connectServer(
        urls.map((replica) => cluster.url(replica)),
        { cluster: testCluster },
      );
    });
  });
  afterAll(async () => {
    for (const store of stores ?? []) await store.close();
    await cluster?.close();
  });

  it("lose and duplicate nothing if services with other replicas continue an interrupted one", async () => {
    const random = seededRandom();
    await migrate(stores[0]!, { cluster: testCluster, later: [] });
    await cluster.run(
      replicas.at(-1)!,
      `INSERT INTO calls (project_id, hour, trace_id, id, started_at, usage)
       SELECT 'acme/p', intDiv(toUnixTimestamp(began), 3600), toString(intDiv(number, 7)), toString(number),
         toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + number * 51839 AS began, if(number % 10 = 0, '[]', '[["m",1,7,0,7,0,0,0]]')
       FROM numbers(${CALLS})`,
    );
    await cluster.run(
      replicas[0]!,
      "INSERT INTO llm_prices (project_id, id, llm_id) VALUES ('acme/p', 'p1', 'gpt-4o'), ('acme/p', 'p2', 'other')",
    );
    for (const table of ["calls", "llm_prices"])
      for (const replica of replicas) await cluster.run(replica, `SYSTEM SYNC REPLICA ${table}`);

    let cuts = 0;
    for (let starts = 0, end = ""; end !== "done"; starts++) {
      expect(starts).toBeLessThan(60);
      const engine = stores[starts % stores.length]!;
      // more statements than the start before, so that it comes to an end
      let left = 6 + starts + Math.floor(random.next() * 3);
      end = await start(
        interruptBefore(engine, () => left-- <= 0),
        engine,
      );
      if (end === "cut") cuts++;
    }
    expect(cuts).toBeGreaterThan(3);
    for (const replica of replicas) {
      for (const table of ["models", "llm_prices", "schema_migrations"])
        await cluster.run(replica, `SYSTEM SYNC REPLICA ${table}`);
      expect(
        await cluster.rows(
          replica,
          `SELECT (SELECT toInt32(count()) FROM models FINAL) AS models,
             (SELECT groupArray((id, currency)) FROM (SELECT id, currency FROM llm_prices FINAL ORDER BY id)) AS prices,
             (SELECT groupArray(name) FROM (SELECT name FROM schema_migrations FINAL ORDER BY name)) AS applied`,
        ),
      ).toEqual([
        {
          models: CALLS * 0.9,
          prices: [
            ["p1", "EUR"],
            ["p2", "USD"],
          ],
          applied: [LATER.name, "1.0"],
        },
      ]);
    }
  });
});
