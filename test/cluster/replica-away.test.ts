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

const project = "acme/app";
let cluster: TestCluster;
let service: ServiceProcess;
let sent = 0;

const write = () => complete(service, [completeCall(project, `call-${sent++}`, "trace")]);
const read = () => send(service, "/trace/usage", { project_id: project });
const ready = async (path = "/readyz") => {
  const response = await fetch(service.url + path);
  return { status: response.status, body: (await response.json()) as Record<string, string> };
};

describe.skipIf(!hasFaults || replicaCount < 2)(
  `a replica that becomes unavailable, on ${clusterName}`,
  () => {
    beforeAll(async () => {
      cluster = await openCluster();
      service = await cluster.start();
      await untilDone(write, { withinMs: 10_000 });
    });
    afterAll(() => cluster?.close());

    describe.each(["kill", "stop"] as const)("%s: the replica that the service uses", (fault) => {
      it("delays readers by at most two seconds", { retry: 0 }, async () => {
        const known = await tokensOf(service, project);
        await cluster.fault(fault, 1);
        const { tookMs, reply } = await untilDone(read, { withinMs: 4000 });
        expect(tookMs).toBeLessThan(2000);
        expect(Object.keys(reply.json.call_usage as object)).toHaveLength(known.size);
      });
      if (replicaCount > 2) {
        it("nor writers, and acknowledged rows can be read at once", async () => {
          await cluster.heal();
          await untilDone(write, { withinMs: 10_000 });
          await cluster.fault(fault, 1);
          const { tookMs } = await untilDone(write, { withinMs: 10_000 });
          expect(tookMs).toBeLessThan(2000);
          expect((await tokensOf(service, project)).has(`call-${sent - 1}`)).toBe(true);
          expect(await ready()).toMatchObject({ status: 200, body: { reads: "ok", writes: "ok" } });
        });
      } else {
        it("rejects writes within seconds if too few replicas are available, as does /readyz", async () => {
          await untilDone(write, { withinMs: 15_000, status: [503] });
          const beganMs = performance.now();
          const { status, text } = await write();
          expect([status, text]).toEqual([503, expect.stringContaining("Store read-only")]);
          expect(performance.now() - beganMs).toBeLessThan(2000);
          expect(await ready()).toMatchObject({ status: 503, body: { reads: "ok", writes: "not ready" } });
          expect(await ready("/readyz/reads")).toMatchObject({ status: 200 });
          expect(await ready("/readyz/writes")).toMatchObject({ status: 503 });
        });
      }
      it("is used again once it is back, with all rows", async () => {
        await cluster.heal();
        await untilDone(write, { withinMs: 20_000 });
        await untilDone(async () => ({ ...(await ready()), text: "", json: undefined }), {
          withinMs: 10_000,
        });
        expect((await tokensOf(service, project)).has(`call-${sent - 1}`)).toBe(true);
      });
    });
  },
);

describe.skipIf(!hasFaults)(`an unavailable ClickHouse Keeper, on ${clusterName}`, () => {
  beforeAll(async () => {
    cluster = await openCluster();
    service = await cluster.start();
    await untilDone(write, { withinMs: 10_000 });
  });
  afterAll(() => cluster?.close());

  it.each(["kill", "stop"] as const)(
    "%s: reads continue, writes return 503 with the reason within ten seconds, and it recovers by itself",
    async (fault) => {
      await cluster.fault(fault, "keeper");
      const { tookMs, reply } = await untilDone(write, { withinMs: 12_000, status: [503] });
      expect(tookMs).toBeLessThan(10_000);
      expect(reply.text).toContain("Store read-only");
      const beganMs = performance.now();
      expect((await read()).status).toBe(200);
      expect((await write()).status).toBe(503);
      expect(performance.now() - beganMs).toBeLessThan(4000);
      expect(await ready()).toMatchObject({ status: 503, body: { reads: "ok", writes: "not ready" } });
      const other = await cluster.start();
      expect((await fetch(`${other.url}/readyz/reads`)).status).toBe(200);
      await other.end("SIGTERM");
      await cluster.heal();
      await untilDone(write, { withinMs: 30_000 });
      expect((await ready()).status).toBe(200);
    },
  );
});
