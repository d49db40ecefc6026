import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectServer } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { completeCall, send, store, tokensOf } from "../helpers/cluster-load.ts";
import { LATER, LATER_VERSION } from "../helpers/later-migration.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import type { ServiceProcess } from "../helpers/service-process.ts";
import { openLink, type Statement, type StatementLink } from "../helpers/statement-link.ts";
import {
  clusterName,
  clusterOfTests,
  openCluster,
  replicaCount,
  type TestCluster,
} from "../helpers/test-cluster.ts";

const project = "acme/app";
const numbers = Array.from({ length: replicaCount }, (_, index) => index + 1);
const CHANGES = /^(INSERT|ALTER|CREATE|SYSTEM (DROP|RESTORE))/m;

describe.skipIf(replicaCount < 2)(`a newer version opens the store, on ${clusterName}`, () => {
  let cluster: TestCluster;
  let older: ServiceProcess;
  let links: readonly StatementLink[];
  let newer: Engine;
  /** What the newer one has changed the store with, in its order. */
  const sent: Statement[] = [];

  beforeAll(async () => {
    cluster = await openCluster();
    older = await cluster.start();
    await store(older, [completeCall(project, "before", "before")]);
    links = await Promise.all(numbers.map((replica) => openLink(cluster.url(replica))));
    for (const link of links)
      link.rule = (statement) => {
        if (CHANGES.test(statement.text)) sent.push(statement);
        return "pass";
      };
    newer = connectServer(
      links.map(({ url }) => url),
      { cluster: clusterOfTests, storeVersion: LATER_VERSION },
    );
    await migrate(newer, { cluster: clusterOfTests, later: [LATER] });
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
          `SELECT name, position(create_table_query, 'from_version_2') > 0 AS is_fenced,
             (SELECT count() FROM system.columns AS one WHERE one.database = currentDatabase() AND one.table = tables.name) AS columns
           FROM system.tables WHERE database = currentDatabase() ORDER BY name`,
        ),
      );
    }
    return all;
  };

  it("and the older one, which runs on, reads it, writes nothing, and says why", async () => {
    const answer = await send(older, `/v2/${project}/calls/complete`, {
      batch: [completeCall(project, "after", "after")],
    });
    expect([answer.status, answer.json.detail]).toEqual([
      503,
      "A newer version of the service has opened the store: this one can read it, not write to it.",
    ]);
    for (const path of ["/cost/create", "/feedback/create"] as const)
      expect((await send(older, path, bodies[path])).status).toBe(503);
    expect((await send(older, `/projects/${project}`, undefined, { method: "DELETE" })).status).toBe(503);
    expect([...(await tokensOf(older, project)).keys()]).toEqual(["before"]);
    expect((await fetch(`${older.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${older.url}/readyz/reads`)).status).toBe(200);
    // past what the service knows: the engine itself refuses it
    const past = connectServer(
      numbers.map((replica) => cluster.url(replica)),
      { cluster: clusterOfTests, storeVersion: LATER_VERSION },
    );
    const row = { project_id: project, hour: 0, trace_id: "t", id: "late" };
    const late = past.insert("calls", [row], { name: "late", storeVersion: 1 });
    await expect(late).rejects.toMatchObject({ kind: "outdated", engineCode: "469" });
    await past.insert("calls", [row], { name: "now" });
    await past.close();
  });

  it("and nothing of what has opened it changes anything when it comes once more, after everything else", async () => {
    const row = { project_id: project, id: "p", llm_id: "gpt-4o", currency: "USD" };
    await newer.insert("llm_prices", [row], { name: "test" });
    await newer.insert("models", [{ project_id: project, hour: 0, trace_id: "t", id: "new", usage: "x" }], {
      name: "test",
      tables: 1,
    });
    const before = await fingerprint();
    expect(sent.length).toBeGreaterThan(20);
    const random = seededRandom();
    const order = sent.map((statement) => ({ statement, at: random.next() })).sort((a, b) => a.at - b.at);
    for (const { statement } of order) await statement.deliver();
    expect(await fingerprint()).toEqual(before);
  });
});

const bodies = {
  "/cost/create": {
    project_id: project,
    costs: { "gpt-4o": { prompt_token_cost: 1, completion_token_cost: 1 } },
  },
  "/feedback/create": {
    project_id: project,
    weave_ref: `weave:///${project}/call/before`,
    feedback_type: "custom",
    payload: { note: "x" },
  },
};
