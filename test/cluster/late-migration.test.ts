import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectServer } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { completeCall, store } from "../helpers/cluster-load.ts";
import { LATER } from "../helpers/later-migration.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { startStatementProxy, type Statement, type StatementProxy } from "../helpers/statement-proxy.ts";
import {
  clusterName,
  testCluster,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";

const project = "acme/app";
const numbers = Array.from({ length: replicaCount }, (_, index) => index + 1);
const CHANGES = /^(INSERT|ALTER|CREATE|SYSTEM (DROP|RESTORE))/m;

describe.skipIf(replicaCount < 2)(`a repeated migration, on ${clusterName}`, () => {
  let cluster: TestCluster;
  let links: readonly StatementProxy[];
  let newer: Engine;
  /** Statements of the newer version's migration, in order. */
  const sent: Statement[] = [];

  beforeAll(async () => {
    cluster = await openCluster();
    await store(await cluster.start(), [completeCall(project, "before", "before")]);
    links = await Promise.all(numbers.map((replica) => startStatementProxy(cluster.url(replica))));
    for (const link of links)
      link.rule = (statement) => {
        if (CHANGES.test(statement.text)) sent.push(statement);
        return "pass";
      };
    newer = connectServer(
      links.map(({ url }) => url),
      { cluster: testCluster },
    );
    await migrate(newer, { cluster: testCluster, later: [LATER] });
  });
  afterAll(async () => {
    await newer?.close();
    await cluster?.close();
    for (const link of links ?? []) await link.close();
  });

  const fingerprint = async (): Promise<unknown> => {
    const tables = ["calls", "models", "llm_prices", "schema_migrations", "feedback", "deletions"];
    const all: unknown[] = [];
    for (const replica of numbers) {
      for (const table of tables) {
        await cluster.run(replica, `SYSTEM SYNC REPLICA ${table}`);
        all.push(
          await cluster.rows(
            replica,
            `SELECT '${table}' AS name, toString(count()) AS n, toString(sum(cityHash64(*))) AS sum FROM ${table} FINAL`,
          ),
        );
      }
      all.push(
        await cluster.rows(
          replica,
          `SELECT name, (SELECT count() FROM system.columns AS one WHERE one.database = currentDatabase() AND one.table = tables.name) AS columns
           FROM system.tables WHERE database = currentDatabase() ORDER BY name`,
        ),
      );
    }
    return all;
  };

  it("changes nothing, for any order of its late statements", async () => {
    const row = { project_id: project, id: "p", llm_id: "gpt-4o", currency: "USD" };
    await newer.insert("llm_prices", [row], { name: "test" });
    await newer.insert("models", [{ project_id: project, hour: 0, trace_id: "t", id: "new", usage: "x" }], {
      name: "test",
      tables: 1,
    });
    const before = await fingerprint();
    expect(sent.length).toBeGreaterThan(4);
    const random = seededRandom();
    const order = sent.map((statement) => ({ statement, at: random.next() })).sort((a, b) => a.at - b.at);
    for (const { statement } of order) await statement.deliver();
    expect(await fingerprint()).toEqual(before);
  });
});
