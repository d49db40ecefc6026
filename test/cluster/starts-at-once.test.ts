import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../src/query/sql.ts";
import { connectServer } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { interceptStatements } from "../helpers/intercept-statements.ts";
import { LATER } from "../helpers/later-migration.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import {
  clusterName,
  testCluster,
  countShards,
  hasFaults,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";

const rounds = Array.from({ length: Number(process.env["START_ROUNDS"] ?? 1) }, (_, round) => round);
const STARTS = 5;
const shards = await countShards();
const numbers = Array.from({ length: replicaCount }, (_, index) => index + 1);

/** Before one statement in eight it stands still, as a process does that gets no time. */
function standing(engine: Engine, random: { next(): number }): Engine {
  return interceptStatements(engine, async (_name, run) => {
    if (random.next() < 1 / 8) await pause(random.next() ** 3 * 4000);
    return await run();
  });
}

describe.skipIf(replicaCount < 2)(`five concurrent starts on ${clusterName}`, () => {
  const options = { cluster: testCluster, later: [LATER] };
  let cluster: TestCluster;
  let engines: readonly Engine[] = [];
  beforeEach(async () => {
    cluster = await openCluster();
    // each uses another replica first
    engines = Array.from({ length: STARTS }, (_, start) => {
      const order = numbers.toSorted((a, b) => ((a + start) % replicaCount) - ((b + start) % replicaCount));
      return connectServer(
        order.map((replica) => cluster.url(replica)),
        { cluster: testCluster },
      );
    });
  });
  afterEach(async () => {
    for (const engine of engines) await engine.close();
    await cluster.close();
  });

  const startAll = async (): Promise<void> => {
    const random = seededRandom();
    const ends = await Promise.allSettled(
      engines.map((engine) => migrate(standing(engine, random), options)),
    );
    expect(ends.filter((end) => end.status === "rejected").map((end) => String(end.reason))).toEqual([]);
  };
  const expectWorking = async (stored: number): Promise<void> => {
    for (const [at, engine] of engines.entries()) {
      await expect.poll(async () => (await engine.health()).writes, { timeout: 60_000 }).toBeUndefined();
      const row = { project_id: "a/b", hour: 0, trace_id: "t", id: `${stored + at}` };
      await engine.insert("calls", [row], { name: "test" });
      const count = sql`SELECT count() AS n FROM calls FINAL`;
      expect(await engine.rows(count, { name: "test" })).toEqual([{ n: stored + at + 1 }]);
    }
  };

  it.each(rounds)("create one working store (%i)", async () => {
    await startAll();
    await expectWorking(0);
  });

  it.skipIf(!hasFaults || shards > 1).each(rounds)(
    "create the tables of a replica that lost its disk (%i)",
    async () => {
      await migrate(engines[0]!, options);
      await expectWorking(0);
      await cluster.fault("wipe", replicaCount);
      await cluster.fault("start", replicaCount);
      await cluster.createDatabase();
      await startAll();
      await expectWorking(STARTS);
    },
  );
});
