import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../src/query/sql.ts";
import { connectServer } from "../../src/store/connect.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { interceptStatements } from "../helpers/intercept-statements.ts";
import { LATER } from "../helpers/later-migration.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { spawnProcess } from "../helpers/service-process.ts";
import {
  clusterName,
  hasFaults,
  openCluster,
  replicaCount,
  testCluster,
  type TestCluster,
} from "../helpers/test-cluster.ts";

const STARTS = 5;
let cluster: TestCluster;

/** Returns the output of a start that fails. */
async function failedStart(environment: Readonly<Record<string, string>>): Promise<string> {
  const child = spawnProcess(environment);
  const [said] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(child.exitCode).toBe(1);
  return said;
}

describe.skipIf(replicaCount < 2)(`starts on ${clusterName}`, () => {
  beforeEach(async () => {
    cluster = await openCluster();
  });
  afterEach(() => cluster.close());

  it("of five services at once, which stand still at times, create one working store", async () => {
    const random = seededRandom();
    const engines = Array.from({ length: STARTS }, () =>
      connectServer(cluster.url().split(","), { cluster: testCluster }),
    );
    const starts = engines.map((engine) => {
      // as a process does that gets no time
      const standing = interceptStatements(engine, async (_name, run) => {
        if (random.next() < 1 / 8) await pause(random.next() ** 3 * 4000);
        return await run();
      });
      return migrate(standing, { cluster: testCluster, later: [LATER] });
    });
    expect((await Promise.allSettled(starts)).filter(({ status }) => status === "rejected")).toEqual([]);
    for (const [at, engine] of engines.entries()) {
      await expect.poll(async () => (await engine.health()).writes, { timeout: 60_000 }).toBeUndefined();
      await engine.insert("calls", [{ project_id: "a/b", hour: 0, trace_id: "t", id: `${at}` }], {
        name: "test",
      });
      const count = sql`SELECT count() AS n FROM calls FINAL`;
      expect(await engine.rows(count, { name: "test" })).toEqual([{ n: at + 1 }]);
    }
    for (const engine of engines) await engine.close();
  });

  it("define nothing if nothing is missing, and report a cluster that is not defined", async () => {
    await (await cluster.start()).end("SIGTERM");
    const before = await cluster.ddlCount();
    const service = await cluster.start();
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect(before).toBeGreaterThan(0);
    expect(await cluster.ddlCount()).toBe(before);
    expect(await failedStart({ ...cluster.settings(), CLICKHOUSE_CLUSTER: "nowhere" })).toContain(
      "does not have the cluster named in CLICKHOUSE_CLUSTER",
    );
  });

  it.skipIf(!hasFaults).each([1, replicaCount, "keeper"] as const)(
    "wait for %s, say so, and then use it",
    async (away) => {
      await cluster.fault("kill", away);
      const child = spawnProcess(cluster.settings());
      let said = "";
      child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
      await expect.poll(() => said, { timeout: 60_000 }).toContain("waiting for ClickHouse servers");
      expect(said).toMatch(/does not respond/);
      await cluster.heal();
      await expect.poll(() => said, { timeout: 90_000 }).toContain("Server listening");
      child.kill("SIGKILL");
    },
  );
});
