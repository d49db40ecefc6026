import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { completeCall, retry, tokensOf, TOKENS_PER_CALL } from "../helpers/cluster-load.ts";
import type { ServiceProcess } from "../helpers/service-process.ts";
import {
  canDefine,
  clusterName,
  countShards,
  defineCluster,
  hasFaults,
  openCluster,
  replicaCount,
  type Layout,
  type TestCluster,
} from "../helpers/test-cluster.ts";

const scripts = join(import.meta.dirname, "../../scripts");
const shards = await countShards();
const project = "acme/app";
const TRACES = 8;
const macroOf = (replica: number): string => `r${replica}`;

/** The layouts that one after the other becomes, by what there is to try it on. */
const replicasInTurn: readonly Layout[] =
  shards > 1
    ? replicaCount === 4
      ? [
          [[1], [3]],
          [
            [1, 2],
            [3, 4],
          ],
          [[1], [3]],
        ]
      : []
    : [[[1]], [[1, 2]], ...(replicaCount > 2 ? [[[1, 2, 3]], [[1, 2]]] : []), [[1]], [[1, 2]]];
const shardsInTurn: readonly Layout[] =
  shards < 2
    ? []
    : replicaCount === shards
      ? Array.from({ length: shards }, (_, last) => Array.from({ length: last + 1 }, (_2, n) => [n + 1]))
      : [
          [[1, 2]],
          [
            [1, 2],
            [3, 4],
          ],
        ];

const textOf = (layout: Layout): string => layout.map((shard) => shard.join()).join(" and ");
const changesOf = (layouts: readonly Layout[]) =>
  layouts
    .slice(1)
    .map((to, at) => ({ from: layouts[at]!, to, name: `${textOf(layouts[at]!)} to ${textOf(to)}` }));

async function run(
  script: string,
  environment: Readonly<Record<string, string>>,
  ...more: readonly string[]
): Promise<string> {
  const env = { PATH: process.env["PATH"], ...environment };
  const { stdout } = await promisify(execFile)(process.execPath, [join(scripts, `${script}.ts`), ...more], {
    env,
  });
  return stdout;
}

describe.skipIf(!canDefine || !hasFaults || replicaCount < 2)(
  `docs/cluster.md, step by step, on ${clusterName}`,
  () => {
    const clusters: TestCluster[] = [];
    let cluster: TestCluster;
    let service: ServiceProcess;
    const stored = new Set<string>();

    const open = async (): Promise<void> => {
      cluster = await openCluster();
      clusters.push(cluster);
    };
    const store = async (prefix: string): Promise<void> => {
      const ids = Array.from({ length: TRACES }, (_, n) => `${prefix}-${stored.size}-${n}`);
      const batch = ids.map((id, n) => completeCall(project, id, `trace-${n}`));
      await retry(service, `/v2/${project}/calls/complete`, { batch });
      for (const id of ids) stored.add(id);
    };
    /** Everything is told by the service, and lies on every replica of its shard. */
    const expectAll = async (layout: Layout): Promise<void> => {
      const tokens = await tokensOf(service, project);
      expect([...tokens.keys()].toSorted()).toEqual([...stored].toSorted());
      expect(new Set(tokens.values())).toEqual(new Set([TOKENS_PER_CALL]));
      let sum = 0;
      for (const shard of layout) {
        const counts = await Promise.all(
          shard.map(async (replica) => {
            await cluster.run(replica, "SYSTEM SYNC REPLICA calls");
            const [row] = await cluster.rows<{ n: number }>(
              replica,
              "SELECT toUInt32(count()) AS n FROM calls FINAL",
            );
            return row!.n;
          }),
        );
        expect(new Set(counts).size).toBe(1);
        sum += counts[0]!;
      }
      expect(sum).toBe(stored.size);
    };
    const restart = async (layout: Layout): Promise<void> => {
      await service?.end("SIGTERM");
      service = await cluster.start(layout.flat());
    };
    const add = async (to: Layout, added: readonly number[]): Promise<void> => {
      await defineCluster(to);
      await cluster.createDatabase();
      await run("migrate", cluster.settings(to.flat()));
      await store(`before a service knows ${added.join()}`);
      await restart(to);
    };
    const remove = async (to: Layout, removed: readonly number[]): Promise<void> => {
      await restart(to);
      for (const replica of removed) await cluster.fault("wipe", replica);
      await defineCluster(to);
      for (const replica of removed) {
        const other = to
          .flat()
          .find(
            (one) =>
              Math.floor(((one - 1) * shards) / replicaCount) ===
              Math.floor(((replica - 1) * shards) / replicaCount),
          )!;
        // its session with the keeper lasts some seconds more
        await expect
          .poll(
            () =>
              cluster
                .run(other, `SYSTEM DROP REPLICA '${macroOf(replica)}' FROM DATABASE ${cluster.database}`)
                .catch(String),
            {
              timeout: 60_000,
            },
          )
          .toBeUndefined();
      }
    };

    afterAll(async () => {
      await service?.end("SIGKILL");
      await defineCluster();
      for (const one of clusters) await one.close();
    });

    describe.skipIf(replicasInTurn.length === 0)("replicas", () => {
      it("are initially one of each shard", async () => {
        await defineCluster(replicasInTurn[0]);
        await open();
        service = await cluster.start(replicasInTurn[0]!.flat());
        await store("first");
        await expectAll(replicasInTurn[0]!);
      });

      it.each(changesOf(replicasInTurn))(
        "go from $name: everything is there, and is written",
        async ({ from, to }) => {
          const added = to.flat().filter((one) => !from.flat().includes(one));
          const removed = from.flat().filter((one) => !to.flat().includes(one));
          if (added.length > 0) await add(to, added);
          else await remove(to, removed);
          await store(textOf(to));
          await expectAll(to);
        },
      );
    });

    describe.skipIf(shardsInTurn.length === 0)("shards", () => {
      it("are initially fewer", async () => {
        await service?.end("SIGTERM");
        stored.clear();
        await defineCluster(shardsInTurn[0]);
        await open();
        service = await cluster.start(shardsInTurn[0]!.flat());
        await store("first");
        await expectAll(shardsInTurn[0]!);
      });

      it.each(changesOf(shardsInTurn))(
        "go from $name: everything is there, and is written",
        async ({ to }) => {
          const old = cluster;
          await service.end("SIGTERM");
          await defineCluster(to);
          await expect(run("migrate", old.settings(to.flat()))).rejects.toThrow(/the data is arranged for/);
          await open();
          expect(await run("reshard", cluster.settings(to.flat()), old.database)).toContain(
            "The copy is complete.",
          );
          expect(await run("usage-rollup", cluster.settings(to.flat()), "rebuild")).toContain(
            "hours materialized",
          );
          service = await cluster.start(to.flat());
          await store(textOf(to));
          await expectAll(to);
          expect(await run("usage-rollup", cluster.settings(to.flat()), "check")).toContain(
            " 0 of them different",
          );
        },
      );
    });
  },
);
