import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectServer } from "../../src/store/connect.ts";
import type { QueryOptions } from "../../src/store/engine.ts";
import {
  completeCall,
  send,
  store,
  tokensOf,
  TOKENS_PER_CALL,
  untilDone,
  untilErased,
  RECEIPT_MS,
} from "../helpers/cluster-load.ts";
import { spawnProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { startAppOn } from "../helpers/start-app.ts";
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
const project = "acme/app";
const traces = Array.from({ length: 20 }, (_, n) => `trace-${n}`);
/** More calls than all other traces have together. */
const LARGE = 3000;
const idsOf = (trace: string): string[] => [`${trace}-root`, `${trace}-leaf`];

/** Returns the output of a start that fails. */
async function failedStart(environment: Readonly<Record<string, string>>): Promise<string> {
  const child = spawnProcess(environment);
  const [said] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(child.exitCode).toBe(1);
  return said;
}

/** One replica each: the number of a server is that of its shard. */
describe.skipIf(shards < 2 || replicaCount > shards)(`${shards} shards, on ${clusterName}`, () => {
  let cluster: TestCluster;
  let first: ServiceProcess;
  let second: ServiceProcess;

  const tracesOn = async (server: number): Promise<string[]> => {
    const rows = await cluster.rows<{ trace_id: string }>(
      server,
      `SELECT DISTINCT trace_id FROM calls WHERE project_id = '${project}'`,
    );
    return rows.map((row) => row.trace_id);
  };

  beforeAll(async () => {
    cluster = await openCluster();
    first = await cluster.start();
    second = await cluster.start([2, 1]);
    await store(first, [completeCall(project, "warm", "w")]);
  });
  afterAll(() => cluster?.close());

  it("contain each trace completely on one of them, and any service returns all", async () => {
    for (const trace of traces) {
      const [root, leaf] = idsOf(trace);
      await store(first, [completeCall(project, root!, trace)]);
      await store(second, [completeCall(project, leaf!, trace, { parent_id: root })]);
    }
    const [one, two] = await Promise.all([tracesOn(1), tracesOn(2)]);
    expect(Math.min(one.length, two.length)).toBeGreaterThan(0);
    expect([...one, ...two].toSorted()).toEqual(["w", ...traces].toSorted());
    for (const service of [first, second]) {
      const stored = await tokensOf(service, project);
      expect([...stored.keys()].toSorted()).toEqual(["warm", ...traces.flatMap(idsOf)].toSorted());
      for (const trace of traces) expect(stored.get(`${trace}-root`)).toBe(2 * TOKENS_PER_CALL);
    }
  });

  it("compare with out-of-range instants as one server does", async () => {
    const all = [...(await tokensOf(first, project)).keys()].toSorted();
    const far = [1e300, -1e300, 1e13, -1e13, "9999-12-31T23:59:59Z", "0000-01-01"] as const;
    for (const at of far) {
      const isBefore = typeof at === "string" ? at < "1" : at < 0;
      for (const operator of ["$gt", "$lte"] as const) {
        const query = { $expr: { [operator]: [{ $getField: "started_at" }, { $literal: at }] } };
        const expected = (operator === "$gt") === isBefore ? all : [];
        const counted = await first.post("/calls/query_stats", { project_id: project, query });
        expect(await counted.json(), JSON.stringify(query)).toEqual({ count: expected.length });
        const usage = await first.post("/trace/usage", { project_id: project, query });
        expect(usage.status, JSON.stringify(query)).toBe(200);
        const { call_usage } = (await usage.json()) as { call_usage: object };
        expect(Object.keys(call_usage).toSorted(), JSON.stringify(query)).toEqual(expected);
      }
    }
  });

  it("are queried only for their own traces: the rows of others are not read", async () => {
    const engine = connectServer(cluster.url().split(","), { cluster: testCluster });
    let rowsRead = 0;
    const counted = (options: QueryOptions): QueryOptions => ({
      ...options,
      onRead: ({ rows }) => (rowsRead += rows),
    });
    const app = await startAppOn(engine, {
      settings: cluster.settings(),
      wrapEngine: (inner) => ({
        ...inner,
        rows: (query, options) => inner.rows(query, counted(options)),
        bytes: (query, format, options) => inner.bytes(query, format, counted(options)),
      }),
    });
    const readBy = async (trace: string): Promise<number> => {
      rowsRead = 0;
      const filter = { trace_ids: [trace] };
      const { status, text: body } = await app.post("/trace/usage", { project_id: project, filter });
      expect(status, body).toBe(200);
      return rowsRead;
    };
    const large = "large";
    const batch = Array.from({ length: LARGE }, (_, n) => completeCall(project, `large-${n}`, large));
    await store(first, batch);
    const byShard = [await tracesOn(1), await tracesOn(2)];
    const without = byShard.find((found) => !found.includes(large))!;
    expect(await readBy(large)).toBeGreaterThanOrEqual(LARGE);
    for (const trace of without.slice(0, 5)) expect(await readBy(trace), trace).toBeLessThan(LARGE);
    await app.close();
    await engine.close();
  });

  it("are all required: a service that names only one of them does not start", async () => {
    expect(await failedStart(cluster.settings([1]))).toContain(
      "CLICKHOUSE_URL names no other server of shard 2",
    );
  });

  it("are not treated as one: without the cluster's name the service does not start", async () => {
    const { CLICKHOUSE_CLUSTER: _, ...settings } = cluster.settings([1]);
    expect(await failedStart(settings)).toContain("The store has 2 shards: set CLICKHOUSE_CLUSTER");
  });

  describe.skipIf(!hasFaults)("while one is unavailable", () => {
    beforeAll(() => cluster.fault("kill", 2));
    afterAll(() => cluster.heal());

    it("a trace on the other can be read, and no response is partial", async () => {
      const here = new Set(await tracesOn(1));
      for (const trace of traces) {
        const filter = { trace_ids: [trace] };
        for (const [path, body] of [
          ["/trace/usage", { filter }],
          ["/calls/stream_query", { filter, limit: 1 }],
          ["/calls/query_stats", { filter }],
          ["/trace/calls", { trace_id: trace }],
          ["/trace/sizes", { trace_ids: [trace] }],
        ] as const) {
          const reply = await send(first, path, { project_id: project, ...body });
          expect(reply.status, `${path} ${trace}`).toBe(here.has(trace) ? 200 : 503);
          if (path === "/trace/usage" && here.has(trace))
            expect(Object.keys(reply.json.call_usage as object)).toHaveLength(2);
        }
      }
      expect((await send(first, "/trace/usage", { project_id: project })).status).toBe(503);
      expect((await fetch(`${first.url}/readyz`)).status).toBe(503);
    });

    it(
      "a deletion is rejected, and completes if it is retried with all available",
      { timeout: RECEIPT_MS },
      async () => {
        const remove = () => send(first, `/projects/${project}`, undefined, { method: "DELETE" });
        expect((await remove()).status).toBe(503);
        await cluster.heal();
        const { reply } = await untilDone(remove, { withinMs: 90_000, status: [202] });
        await untilErased(second, reply.json.id);
        expect([await tracesOn(1), await tracesOn(2)]).toEqual([[], []]);
        for (const service of [first, second]) expect((await tokensOf(service, project)).size).toBe(0);
      },
    );
  });
});
