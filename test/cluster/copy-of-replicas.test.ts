import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { completeCall, store, tokensOf } from "../helpers/cluster-load.ts";
import {
  clusterName,
  countShards,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";

const COPY = join(import.meta.dirname, "../../scripts/reshard.ts");
const shards = await countShards();
const project = "acme/app";
const CALLS = 12;
/** The one that the copy would read first. */
const STALE = 1;

describe.skipIf(replicaCount < 2 || shards > 1)(`a copy of a store of ${clusterName}`, () => {
  let old: TestCluster;
  const copies: TestCluster[] = [];

  /** Starts a copy in a database of its own; returns its output. */
  const copy = async (): Promise<{ said: string; cluster: TestCluster }> => {
    const cluster = await openCluster();
    copies.push(cluster);
    const { stdout } = await promisify(execFile)(process.execPath, [COPY, old.database], {
      env: { PATH: process.env["PATH"], ...cluster.settings() },
    });
    return { said: stdout, cluster };
  };
  const expectWhole = async (): Promise<void> => {
    const { said, cluster } = await copy();
    expect(said).toContain(`calls: ${CALLS} rows`);
    expect(said).toContain("The copy is complete.");
    const service = await cluster.start();
    expect((await tokensOf(service, project)).size).toBe(CALLS);
    await service.end("SIGTERM");
  };

  beforeAll(async () => {
    old = await openCluster();
    const service = await old.start([replicaCount], { CLICKHOUSE_INSERT_QUORUM: "1" });
    const calls = Array.from({ length: CALLS }, (_, n) => completeCall(project, `call-${n}`, `trace-${n}`));
    await store(service, calls.slice(0, 2));
    await old.heal();
    await old.run(STALE, "SYSTEM STOP FETCHES");
    await store(service, calls.slice(2));
    expect(await service.end("SIGTERM")).toBe(0);
  });
  afterAll(async () => {
    await old?.run(STALE, "SYSTEM START FETCHES");
    for (const one of [...copies, ...(old === undefined ? [] : [old])]) await one.close();
  });

  it("contains rows that a lagging replica lacks", async () => {
    const [lagging] = await old.rows<{ n: number }>(STALE, "SELECT toUInt32(count()) AS n FROM calls FINAL");
    expect(lagging!.n).toBe(2);
    await expectWhole();
  });

  it("contains rows that a replica lost with its disk", async () => {
    await old.run(STALE, `DROP DATABASE ${old.database} SYNC`);
    await old.createDatabase();
    await expectWhole();
  });
});
