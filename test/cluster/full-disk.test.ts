import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { completeCall, retry, store, tokensOf } from "../helpers/cluster-load.ts";
import type { ServiceProcess } from "../helpers/service-process.ts";
import {
  clusterName,
  countShards,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";

const shards = await countShards();
const project = "acme/app";
const numbers = Array.from({ length: replicaCount }, (_, index) => index + 1);

describe.skipIf(replicaCount < 2 || shards > 1)(`a full disk, on ${clusterName}`, () => {
  let cluster: TestCluster;
  let service: ServiceProcess;
  beforeAll(async () => {
    cluster = await openCluster();
    service = await cluster.start();
  });
  afterAll(() => cluster?.close());

  /** As if it had less space than that. */
  const leave = async (replica: number, bytes: string): Promise<void> => {
    const tables = await cluster.rows<{ name: string }>(
      replica,
      "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE 'Replicated%'",
    );
    for (const { name } of tables)
      await cluster.run(
        replica,
        `ALTER TABLE ${name} MODIFY SETTING min_free_disk_bytes_to_perform_insert = ${bytes}`,
      );
  };

  it.each(numbers)("does not stop writes to others: replica %i", async (full) => {
    await leave(full, "1000000000000000");
    await store(service, [completeCall(project, `full-${full}`, "full")]);
    await retry(service, "/call/start", {
      start: {
        project_id: project,
        id: `started-${full}`,
        trace_id: "full",
        op_name: "op",
        started_at: "2026-01-01T00:00:00Z",
      },
    });
    expect((await tokensOf(service, project)).size).toBe(2 * full);
    await leave(full, "0");
  });

  it("of every replica is reported as a full disk", async () => {
    for (const replica of numbers) await leave(replica, "1000000000000000");
    const response = await service.post(`/v2/${project}/calls/complete`, {
      batch: [completeCall(project, "none", "full")],
    });
    expect([response.status, await response.text()]).toEqual([503, expect.stringContaining("disk is full")]);
    for (const replica of numbers) await leave(replica, "0");
    await store(service, [completeCall(project, "again", "full")]);
  });
});
