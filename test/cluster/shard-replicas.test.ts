import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  complete,
  completeCall,
  send,
  tokensOf,
  TOKENS_PER_CALL,
  untilDone,
} from "../helpers/cluster-load.ts";
import type { ServiceProcess } from "../helpers/service-process.ts";
import {
  clusterName,
  testCluster,
  countShards,
  hasFaults,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";

const shards = await countShards();
const isGrid = shards > 1 && replicaCount > shards;
const project = "acme/app";
const traces = Array.from({ length: 12 }, (_, n) => `trace-${n}`);

describe.skipIf(!isGrid)(`${shards} shards, on ${clusterName}`, () => {
  let cluster: TestCluster;
  /** One for each replica, which it uses first. */
  let services: ServiceProcess[];
  /** The shard of each replica. */
  let shardOf: number[];
  const stored = new Set<string>();

  const replicas = Array.from({ length: replicaCount }, (_, index) => index + 1);
  const store = (service: ServiceProcess, id: string, trace: string) =>
    complete(service, [completeCall(project, id, trace)]);
  const expectAll = async (service: ServiceProcess): Promise<void> => {
    const found = await tokensOf(service, project);
    expect([...found.keys()].toSorted()).toEqual([...stored].toSorted());
    expect(new Set(found.values())).toEqual(new Set([TOKENS_PER_CALL]));
  };
  const readable = (service: ServiceProcess) =>
    untilDone(() => send(service, "/trace/usage", { project_id: project }), { withinMs: 60_000 });

  beforeAll(async () => {
    cluster = await openCluster();
    services = [];
    for (const first of replicas)
      services.push(await cluster.start([first, ...replicas.filter((other) => other !== first)]));
    await untilDone(() => store(services[0]!, "warm", "w"), { withinMs: 60_000 });
    stored.add("warm");
    shardOf = [];
    for (const replica of replicas) {
      const [row] = await cluster.rows<{ shard: number }>(
        replica,
        `SELECT toUInt32(max(shard_num * is_local)) AS shard FROM system.clusters WHERE cluster = '${testCluster}'`,
      );
      shardOf.push(row!.shard);
    }
  });
  afterAll(() => cluster?.close());

  it("contain acknowledged and no deleted rows from the next response on, at any service", async () => {
    for (const [n, trace] of traces.entries()) {
      const [writer, reader] = [services[n % services.length]!, services[(n + 1) % services.length]!];
      expect((await store(writer, `c-${n}`, trace)).status).toBe(200);
      expect((await store(writer, `deleted-${n}`, trace)).status).toBe(200);
      stored.add(`c-${n}`);
      const ids = await tokensOf(reader, project, { trace_ids: [trace] });
      expect([...ids.keys()].toSorted()).toEqual([`c-${n}`, `deleted-${n}`]);
      const gone = await send(writer, "/calls/delete", { project_id: project, call_ids: [`deleted-${n}`] });
      expect(gone.status, gone.text).toBe(200);
      expect([...(await tokensOf(reader, project, { trace_ids: [trace] })).keys()]).toEqual([`c-${n}`]);
    }
    for (const service of services) await expectAll(service);
    const doomed = "acme/doomed";
    for (const [n, service] of services.entries()) {
      const batch = traces.map((trace) => completeCall(doomed, `${trace}-${n}`, trace));
      const sent = await send(service, `/v2/${doomed}/calls/complete`, { batch });
      expect(sent.status, sent.text).toBe(200);
      const reply = await send(service, `/projects/${doomed}`, undefined, { method: "DELETE" });
      expect(reply.status, reply.text).toBe(202);
      for (const other of services) expect((await tokensOf(other, doomed)).size).toBe(0);
    }
  });

  describe.skipIf(!hasFaults)("with an unavailable replica", () => {
    for (const fault of ["kill", "stop"] as const) {
      it(`are read by all services, and written where all replicas are available (${fault})`, async () => {
        const victim = replicas.at(-1)!;
        await cluster.fault(fault, victim);
        for (const service of services) {
          await readable(service);
          await expectAll(service);
        }
        const statuses = new Map<number, number>();
        const [one] = services;
        for (const [n, trace] of traces.entries()) {
          const id = `${fault}-${n}`;
          const { status, text } = await store(one!, id, trace);
          expect([200, 503], text).toContain(status);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          // a write that is refused may be stored, and is sent again
          if (status === 503) continue;
          stored.add(id);
        }
        expect(statuses.get(503) ?? 0).toBeGreaterThan(0);
        await cluster.heal();
        for (const [n, trace] of traces.entries()) {
          const id = `${fault}-${n}`;
          await untilDone(() => store(one!, id, trace), { withinMs: 60_000 });
          stored.add(id);
        }
        for (const service of services) {
          await readable(service);
          await expectAll(service);
        }
      });
    }

    it("that lost its disk gets the rows of its shard, and is used like the others", async () => {
      const victim = replicas.at(-1)!;
      const peers = replicas.filter(
        (replica) => replica !== victim && shardOf[replica - 1] === shardOf[victim - 1],
      );
      await cluster.fault("wipe", victim);
      await cluster.fault("start", victim);
      await cluster.createDatabase();
      const service = await cluster.start([victim, ...replicas.filter((other) => other !== victim)]);
      await cluster.heal();
      for (const peer of peers) await cluster.fault("kill", peer);
      await readable(service);
      await expectAll(service);
      await cluster.heal();
      await service.end("SIGTERM");
      await untilDone(() => store(services[0]!, "last", "trace-0"), { withinMs: 60_000 });
      stored.add("last");
      await expectAll(services[0]!);
    });
  });
});
