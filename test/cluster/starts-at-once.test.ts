import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { sql } from "../../src/query/sql.ts";
import { connectServer } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { LATER } from "../helpers/later-migration.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import {
  clusterName,
  clusterOfTests,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";

const ROUNDS = Number(process.env["START_ROUNDS"] ?? 3);
const STARTS = 5;
const numbers = Array.from({ length: replicaCount }, (_, index) => index + 1);

/** Before one statement in eight it stands still, as a process does that gets no time. */
function standing(engine: Engine, random: { next(): number }): Engine {
  const maybe = async (): Promise<void> => {
    if (random.next() < 1 / 8) await pause(random.next() ** 3 * 4000);
  };
  return {
    ...engine,
    rows: async (query, options) => maybe().then(() => engine.rows(query, options)),
    command: async (statement, options) => maybe().then(() => engine.command(statement, options)),
    insert: async (table, rows, options) => maybe().then(() => engine.insert(table, rows, options)),
  };
}

describe.skipIf(replicaCount < 2)(`five starts at once on ${clusterName}`, () => {
  let cluster: TestCluster | undefined;
  let engines: Engine[] = [];
  afterEach(async () => {
    for (const engine of engines) await engine.close();
    await cluster?.close();
  });

  it.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    "end with one store that works (%i)",
    async () => {
      const random = seededRandom();
      const made = await openCluster();
      cluster = made;
      engines = Array.from({ length: STARTS }, (_, start) => {
        const first = (start % replicaCount) + 1;
        const urls = [first, ...numbers.filter((replica) => replica !== first)].map((replica) =>
          made.url(replica),
        );
        return connectServer(urls, { cluster: clusterOfTests });
      });
      const options = { cluster: clusterOfTests, later: [LATER] };
      const ends = await Promise.allSettled(
        engines.map((engine) => migrate(standing(engine, random), options)),
      );
      expect(
        ends
          .filter((end) => end.status === "rejected")
          .map(({ reason }) => `${reason} ${(reason as { detail?: string }).detail}`),
      ).toEqual([]);
      for (const [at, engine] of engines.entries()) {
        await expect.poll(async () => (await engine.health()).writes, { timeout: 60_000 }).toBeUndefined();
        await engine.insert("calls", [{ project_id: "a/b", hour: 0, trace_id: "t", id: `${at}` }], {
          name: "test",
        });
        const [row] = await engine.rows<{ n: number }>(sql`SELECT count() AS n FROM calls FINAL`, {
          name: "test",
        });
        expect(row!.n).toBe(at + 1);
      }
    },
  );
});
