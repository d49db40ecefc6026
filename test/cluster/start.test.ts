import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { spawnProcess } from "../helpers/service-process.ts";
import {
  clusterName,
  hasFaults,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";

let cluster: TestCluster;

/** Returns the output of a start that fails. */
async function failedStart(environment: Readonly<Record<string, string>>): Promise<string> {
  const child = spawnProcess(environment);
  const [said] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(child.exitCode).toBe(1);
  return said;
}

describe.skipIf(replicaCount === 0)(`a start on ${clusterName}`, () => {
  beforeAll(async () => {
    cluster = await openCluster();
    const service = await cluster.start();
    expect(await service.end("SIGTERM")).toBe(0);
  });
  afterAll(() => cluster?.close());

  it("defines nothing if nothing is missing", async () => {
    const before = await cluster.ddlCount();
    const service = await cluster.start();
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    await service.end("SIGTERM");
    expect(before).toBeGreaterThan(0);
    expect(await cluster.ddlCount()).toBe(before);
  });

  it("reports a cluster that is not defined", async () => {
    expect(await failedStart({ ...cluster.settings(), CLICKHOUSE_CLUSTER: "nowhere" })).toContain(
      "does not have the cluster named in CLICKHOUSE_CLUSTER",
    );
  });

  describe.skipIf(!hasFaults || replicaCount < 2)("while a replica is unavailable", () => {
    beforeAll(() => cluster.fault("kill", replicaCount));
    afterAll(() => cluster.heal());

    it("takes seconds, and the service responds", async () => {
      const beganMs = performance.now();
      const service = await cluster.start();
      const response = await service.post("/trace/usage", { project_id: "acme/app" });
      expect(response.status).toBe(200);
      expect(performance.now() - beganMs).toBeLessThan(90_000);
      await service.end("SIGTERM");
    });

    it("does not migrate, and names the required replica", async () => {
      // as if a version with a further migration were started
      const [last] = await cluster.rows<{ name: string }>(
        1,
        "SELECT name FROM schema_migrations ORDER BY name DESC LIMIT 1",
      );
      await cluster.run(
        1,
        `ALTER TABLE schema_migrations DELETE WHERE name = '${last!.name}' SETTINGS mutations_sync = 1`,
      );
      for (let replica = 1; replica < replicaCount; replica++) {
        const named = `SELECT name FROM schema_migrations WHERE name = '${last!.name}'`;
        await expect.poll(() => cluster.rows(replica, named), { timeout: 60_000 }).toEqual([]);
      }
      const said = await failedStart(cluster.settings());
      expect(said).toMatch(
        new RegExp(`Migration ${last!.name} needs every replica, and \\S+:\\d+ does not respond`),
      );
      await cluster.heal();
      const service = await cluster.start();
      expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
      await service.end("SIGTERM");
    });
  });
});
