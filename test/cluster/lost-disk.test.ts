import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { complete, completeCall, send, tokensOf, untilDone } from "../helpers/cluster-load.ts";
import type { ServiceProcess } from "../helpers/service-process.ts";
import {
  clusterName,
  hasFaults,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";
import { until } from "../helpers/until.ts";

const project = "acme/app";
const ids = Array.from({ length: 50 }, (_, n) => `call-${n}`);
const LOST = replicaCount;
const root = join(import.meta.dirname, "../..");
let cluster: TestCluster;
let onAll: ServiceProcess;
let onLost: ServiceProcess;

const migrate = () =>
  promisify(execFile)(process.execPath, [join(root, "scripts/migrate.ts")], {
    env: { PATH: process.env["PATH"], ...cluster.settings() },
  });

describe.skipIf(!hasFaults || replicaCount < 2)(`a replica that has lost its disk, on ${clusterName}`, () => {
  beforeAll(async () => {
    cluster = await openCluster();
    onAll = await cluster.start();
    onLost = await cluster.start([LOST]);
    const calls = ids.map((id) => completeCall(project, id, `trace of ${id}`));
    await untilDone(() => complete(onAll, calls), { withinMs: 90_000 });
    expect((await tokensOf(onLost, project)).size).toBe(ids.length);
    await cluster.fault("wipe", LOST);
    await cluster.fault("start", LOST);
  });
  afterAll(() => cluster?.close());

  it("is never read: a service without another returns 503, one with others continues", async () => {
    for (let n = 0; n < 20; n++) {
      expect((await send(onLost, "/trace/usage", { project_id: project })).status).toBe(503);
      expect((await tokensOf(onAll, project)).size).toBe(ids.length);
    }
    const ready = await fetch(`${onLost.url}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([
      503,
      { reads: "not ready", writes: "not ready" },
    ]);
  });

  it("gets its tables and rows from npm run migrate, and is used again", async () => {
    await migrate();
    await untilDone(() => send(onLost, "/trace/usage", { project_id: project }), { withinMs: 90_000 });
    expect((await tokensOf(onLost, project)).size).toBe(ids.length);
    await cluster.heal();
    const [own] = await cluster.rows<{ n: number }>(LOST, "SELECT toUInt32(count()) AS n FROM calls FINAL");
    expect(own!.n).toBe(ids.length);
    const more = completeCall(project, "one more", "trace");
    await untilDone(() => complete(onLost, [more]), { withinMs: 90_000 });
    expect((await tokensOf(onAll, project)).size).toBe(ids.length + 1);
  });

  it("gets a lost entry in ClickHouse Keeper back from npm run migrate", async () => {
    const stateOf = () =>
      cluster.rows<{ path: string; replica: string; is_readonly: number; replicas: number }>(
        LOST,
        `SELECT zookeeper_path AS path, replica_name AS replica, is_readonly, toUInt32(total_replicas) AS replicas
         FROM system.replicas WHERE database = currentDatabase() AND table = 'feedback'`,
      );
    const [{ path, replica } = { path: "", replica: "" }] = await stateOf();
    await cluster.run(LOST, "DETACH TABLE feedback");
    const drop = `SYSTEM DROP REPLICA '${replica}' FROM ZKPATH '${path}'`;
    // rejected while the replica's session lasts
    await until(
      () =>
        cluster.run(1, drop).then(
          () => true,
          () => false,
        ),
      60_000,
    );
    await cluster.run(LOST, "ATTACH TABLE feedback");
    expect(await stateOf()).toMatchObject([{ is_readonly: 1, replicas: 0 }]);
    await migrate();
    expect(await stateOf()).toMatchObject([{ is_readonly: 0, replicas: replicaCount }]);
  });

  it("gets them from the start of a service, whose responses are complete", async () => {
    await cluster.fault("wipe", LOST);
    await cluster.fault("start", LOST);
    await cluster.createDatabase();
    const service = await cluster.start([LOST]);
    await untilDone(() => send(service, "/trace/usage", { project_id: project }), { withinMs: 90_000 });
    expect((await tokensOf(service, project)).size).toBe(ids.length + 1);
  });

  it("with other tables of the same names is rejected by name", async () => {
    await cluster.run(LOST, `DROP DATABASE ${cluster.database} SYNC`);
    await cluster.createDatabase();
    const twin = "(name String, checksum String, applied_at DateTime64(3, 'UTC'))";
    await cluster.run(
      LOST,
      `CREATE TABLE schema_migrations ${twin} ENGINE = ReplicatedReplacingMergeTree('/twin/{database}', '{replica}') ORDER BY name`,
    );
    await expect(migrate()).rejects.toThrow(/have different tables schema_migrations/);
    await cluster.run(LOST, `DROP DATABASE ${cluster.database} SYNC`);
    await migrate();
    expect((await tokensOf(onAll, project)).size).toBe(ids.length + 1);
  });
});
