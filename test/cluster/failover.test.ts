import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  complete,
  completeCall,
  send,
  store,
  tokensOf,
  TOKENS_PER_CALL,
  untilDone,
} from "../helpers/cluster-load.ts";
import type { ServiceProcess } from "../helpers/service-process.ts";
import {
  clusterName,
  countShards,
  hasFaults,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";
import { until } from "../helpers/until.ts";

const PATIENCE_MS = 90_000;
const BUSY_MS = 2000;
const project = "acme/app";
const shards = await countShards();
let cluster: TestCluster;
/** Two, with the replicas in one order. */
let services: ServiceProcess[];
const acknowledged = new Set<string>();
let sent = 0;

const nextCall = () => {
  const id = `call-${sent++}`;
  return { id, call: completeCall(project, id, `trace-${sent % 7}`) };
};
const readyOf = async (service: ServiceProcess) =>
  (await (await fetch(`${service.url}/readyz`)).json()) as Record<string, string>;
const readable = (service: ServiceProcess) =>
  untilDone(() => send(service, "/trace/usage", { project_id: project }), { withinMs: PATIENCE_MS });

/** Everything acknowledged once, and from both services the same. */
async function expectAgreement(): Promise<void> {
  const [first, second] = await Promise.all(services.map((service) => tokensOf(service, project)));
  expect([...acknowledged].filter((id) => first!.get(id) !== TOKENS_PER_CALL)).toEqual([]);
  expect(new Set(first!.values())).toEqual(new Set([TOKENS_PER_CALL]));
  expect(second).toEqual(first);
}

/** Both services write and read while something happens; what a service acknowledged it reads at once, or says 503. */
async function during(happening: () => Promise<void>): Promise<{ rejected: number }> {
  const over = new AbortController();
  let rejected = 0;
  const load = async (service: ServiceProcess): Promise<void> => {
    const own = new Set<string>();
    while (!over.signal.aborted) {
      const { id, call } = nextCall();
      const { status } = await complete(service, [call]);
      if (status === 200) own.add(id);
      else rejected++;
      const read = await send(service, "/trace/usage", { project_id: project });
      if (read.status === 200) {
        const usage = read.json.call_usage as object;
        expect([...own, ...acknowledged].filter((one) => !Object.hasOwn(usage, one))).toEqual([]);
      } else expect(read.status).toBe(503);
      await delay(10);
    }
    for (const id of own) acknowledged.add(id);
  };
  const loads = Promise.all(services.map(load));
  await Promise.all([happening().finally(() => over.abort()), loads]);
  return { rejected };
}

describe.skipIf(!hasFaults || replicaCount === shards)(`failures, on ${clusterName}`, () => {
  beforeAll(async () => {
    cluster = await openCluster();
    services = [await cluster.start(), await cluster.start()];
    const { id, call } = nextCall();
    await store(services[0]!, [call]);
    acknowledged.add(id);
  });
  afterEach(() => cluster.heal());
  afterAll(() => cluster?.close());

  const healed = async (): Promise<void> => {
    await cluster.heal();
    for (const service of services) {
      await until(async () => (await readyOf(service))["status"] === "ok", PATIENCE_MS);
      const { id, call } = nextCall();
      await store(service, [call]);
      acknowledged.add(id);
    }
    await expectAgreement();
  };

  it.each([
    ["kill", 1],
    ["stop", 1],
    ["kill", replicaCount],
    ["stop", replicaCount],
    ["kill", "keeper"],
    ["stop", "keeper"],
  ] as const)(
    "%s %s: nothing acknowledged is lost or doubled, and reads come back",
    async (fault, target) => {
      await during(async () => {
        await delay(BUSY_MS);
        await cluster.fault(fault, target);
        for (const service of services) await readable(service);
        await delay(BUSY_MS);
        await cluster.heal();
        for (const service of services) await readable(service);
      });
      await healed();
    },
  );

  it("a keeper that restarts, as when its leader changes, loses nothing", async () => {
    await during(async () => {
      for (let turn = 0; turn < 3; turn++) {
        await cluster.fault("kill", "keeper");
        await cluster.fault("start", "keeper");
        await delay(BUSY_MS);
      }
    });
    await healed();
  });

  it("an unavailable keeper: reads continue, writes are 503 with the reason, and a start waits", async () => {
    await cluster.fault("kill", "keeper");
    const [service] = services;
    const { reply } = await untilDone(() => complete(service!, [nextCall().call]), {
      withinMs: 30_000,
      status: [503],
    });
    expect(reply.text).toContain("Store read-only");
    expect((await send(service!, "/trace/usage", { project_id: project })).status).toBe(200);
    expect(await readyOf(service!)).toMatchObject({ reads: "ok", writes: "not ready" });
    const started = cluster.start();
    await delay(BUSY_MS);
    await cluster.heal();
    expect(await readyOf(await started)).toMatchObject({ reads: "ok" });
    await healed();
  });

  it("a replica that lost its disk is never read, and is used again once it has been replaced", async () => {
    await during(async () => {
      await cluster.fault("wipe", 1);
      await cluster.fault("start", 1);
      await cluster.run(1, `CREATE DATABASE ${cluster.database}`, "");
      for (const service of services) await readable(service);
      await delay(BUSY_MS);
      const started = await cluster.start();
      expect((await tokensOf(started, project)).size).toBeGreaterThan(0);
      await cluster.replace(1, 2);
    });
    await healed();
    const [own] = await cluster.rows<{ n: number }>(1, "SELECT toUInt32(count()) AS n FROM calls FINAL");
    expect(own!.n).toBeGreaterThan(0);
  });

  it("services on the next replica return to the first one, and agree", async () => {
    await cluster.fault("kill", 1);
    for (const service of services) await readable(service);
    await cluster.heal();
    await healed();
    // fetches nothing from the others: what is read was written there
    await cluster.run(1, "SYSTEM STOP FETCHES");
    try {
      expect(await during(() => delay(BUSY_MS))).toEqual({ rejected: 0 });
      await expectAgreement();
    } finally {
      await cluster.run(1, "SYSTEM START FETCHES");
    }
  });
});
