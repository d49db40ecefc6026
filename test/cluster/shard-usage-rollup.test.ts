import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectServer } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { deleteOrphans } from "../../src/usage-rollup/delete-orphans.ts";
import { rowsOf } from "../../src/usage-rollup/rows.ts";
import { createMaterializer, type Materializer } from "../../src/usage-rollup/materializer.ts";
import { sql } from "../../src/query/sql.ts";
import type { Project } from "../../src/shared/project.ts";
import { completeCall, send, untilDone } from "../helpers/cluster-load.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import type { ServiceProcess } from "../helpers/service-process.ts";
import { withoutRollup } from "../helpers/materialize.ts";
import { startAppOn, type TestApp } from "../helpers/start-app.ts";
import {
  clusterName,
  testCluster,
  countShards,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";

const ROLLUP = join(import.meta.dirname, "../../scripts/usage-rollup.ts");
const ROUNDS = Number(process.env["SHARD_ROLLUP_ROUNDS"] ?? 4);
const HOURS = 5;
const random = seededRandom();
const shards = await countShards();
const project = "acme/rollup";
const traces = Array.from({ length: 24 }, (_, n) => `trace-${n}`);
const below = (n: number): number => Math.floor(random.next() * n);
const at = (hour: number): string => new Date(Date.UTC(2026, 0, 1, hour, 10)).toISOString();

describe.skipIf(shards < 2)(
  `the usage rollup over ${shards} shards, seed ${random.seed}, on ${clusterName}`,
  () => {
    let cluster: TestCluster;
    let services: ServiceProcess[];
    let engines: Engine[];
    let materializers: Materializer[];
    let live: TestApp;
    let calls = 0;

    const call = (trace: string, hour: number): object =>
      completeCall(project, `call-${calls++}`, trace, { started_at: at(hour), ended_at: at(hour) });
    const store = async (batch: readonly object[]): Promise<void> => {
      await untilDone(() => send(services[calls % 2]!, `/v2/${project}/calls/complete`, { batch }), {
        withinMs: 90_000,
      });
    };
    /** Every hour needs two runs without a change. */
    const materialize = async (): Promise<number> => {
      let materialized = 0;
      for (let quiet = 0; quiet < 2;) {
        const found = (await Promise.all(materializers.map((materializer) => materializer.run()))).reduce(
          (a, b) => a + b,
        );
        materialized += found;
        quiet = found === 0 ? quiet + 1 : 0;
      }
      return materialized;
    };
    const expectSame = async (): Promise<void> => {
      for (const group_by of [["trace_id", "status"], ["llm"]]) {
        const body = {
          project_id: project,
          start: at(-1),
          end: at(HOURS + 1),
          granularity: 3600,
          include_costs: true,
          group_by,
          limit: 1000,
        };
        const expected = await live.post("/usage/stats", body);
        expect(expected.status, expected.text).toBe(200);
        for (const service of services) {
          const response = await send(service, "/usage/stats", body);
          expect(response.json, response.text).toEqual(expected.json());
        }
      }
    };
    const rollup = async (word: "check" | "rebuild"): Promise<string> => {
      const env = { PATH: process.env["PATH"], ...cluster.settings([2, 1]) };
      return (await promisify(execFile)(process.execPath, [ROLLUP, word], { env })).stdout.trim();
    };

    beforeAll(async () => {
      cluster = await openCluster();
      services = [await cluster.start()];
      services.push(await cluster.start([replicaCount, 1]));
      engines = [[], [replicaCount, 1]].map((order) =>
        connectServer(cluster.url(...order).split(","), { cluster: testCluster }),
      );
      materializers = engines.map((engine) =>
        createMaterializer({
          engine,
          clock: { now: () => Date.UTC(2026, 1, 1) },
          runExclusive: (work) => work(),
          signal: new AbortController().signal,
        }),
      );
      live = await startAppOn(engines[0]!, { wrapEngine: withoutRollup, settings: cluster.settings() });
      await store(traces.map((trace, n) => call(trace, n % HOURS)));
    });
    afterAll(async () => {
      await live?.close();
      for (const engine of engines ?? []) await engine.close();
      await cluster?.close();
    });

    it("is materialized by two services at once, and matches the calls after every change", async () => {
      let materialized = await materialize();
      expect(materialized).toBeGreaterThanOrEqual(HOURS);
      for (let round = 0; round < ROUNDS; round++) {
        const kind = below(3);
        const trace = traces[below(traces.length)]!;
        if (kind === 0) await store([call(trace, below(HOURS)), call(`new-${round}`, below(HOURS))]);
        if (kind === 1)
          await send(services[round % 2]!, "/calls/delete", {
            project_id: project,
            call_ids: [`call-${below(calls)}`],
          });
        if (kind === 2) await Promise.all([materialize(), store([call(trace, below(HOURS))])]);
        if (below(2) === 0) materialized += await materialize();
        await expectSame();
      }
      await materialize();
      await expectSame();
    });

    it("is materialized again after a change on any of them", async () => {
      await materialize();
      for (let shard = 1; shard <= shards; shard++) {
        const [row] = await engines[0]!.rows<{ trace_id: string }>(
          sql`SELECT trace_id FROM calls WHERE project_id = 'acme/rollup' LIMIT 1`,
          { name: "test", tables: shard },
        );
        await store([call(row!.trace_id, 0)]);
        expect(await materialize(), row!.trace_id).toBeGreaterThan(0);
      }
      await expectSame();
    });

    it("is verified and rebuilt by the command", async () => {
      await materialize();
      const said = /^(\d+) hours materialized, 0 of them different; 0 aggregated at query time\.$/;
      expect(await rollup("check")).toMatch(said);
      await store(traces.map((trace) => call(trace, HOURS - 1)));
      expect(await rollup("check")).toMatch(/; [1-9]\d* aggregated at query time\.$/);
      expect(await rollup("rebuild")).toMatch(
        /^\d+ hours materialized, 0 left to be aggregated at query time\.$/,
      );
      expect(await rollup("check")).toMatch(said);
      await expectSame();
    });

    it("deletes hours whose calls are gone, on each of them", async () => {
      const orphans = "acme/orphans" as Project;
      const validity = { fingerprint: "1", hourFingerprint: "1", traceSetHash: "0", records: [] };
      const materialized = (hour: number) =>
        rowsOf(orphans, { ...validity, hour, first: hour, last: hour, slice: 0, slices: 1 });
      const counts = (): Promise<number[]> =>
        Promise.all(
          Array.from({ length: shards }, async (_, shard) => {
            const rows = await engines[0]!.rows<{ n: number }>(
              sql`SELECT count() AS n FROM usage_rollup WHERE project_id = 'acme/orphans'`,
              { name: "test", tables: shard + 1 },
            );
            return rows[0]!.n;
          }),
        );
      for (let hour = 0; hour < 20; hour++)
        await engines[0]!.insert("usage_rollup", materialized(hour), { name: "test" });
      expect(Math.min(...(await counts()))).toBeGreaterThan(0);
      await deleteOrphans(engines[1]!);
      // the mutation is asynchronous on each shard
      await expect.poll(counts, { timeout: 90_000 }).toEqual(Array.from({ length: shards }, () => 0));
    });
  },
);
