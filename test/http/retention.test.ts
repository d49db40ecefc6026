import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMutations } from "../../src/admin/projects/mutations.ts";
import { deleteExpired } from "../../src/admin/projects/retention.ts";
import { param, sql } from "../../src/query/sql.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { until } from "../helpers/until.ts";
import { namedCluster } from "../helpers/named-store.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

const DAY_MS = 86_400_000;
const KEPT_DAYS = 30;
const old = new Date(Date.now() - 60 * DAY_MS).toISOString();
const young = new Date(Date.now() - DAY_MS).toISOString();

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
}, 120_000);
afterAll(() => test.close());

async function start(project_id: string, id: string, at: string, more: object = {}): Promise<void> {
  const call = { project_id, id, trace_id: `trace of ${id}`, op_name: "op", started_at: at, ...more };
  expect((await test.post("/call/start", { start: call })).status).toBe(200);
}

async function end(project_id: string, id: string, at: string): Promise<void> {
  const summary = { usage: { m: { requests: 1, prompt_tokens: 7 } } };
  const ended = { project_id, id, ended_at: at, output: "said", summary };
  expect((await test.post("/call/end", { end: ended })).status).toBe(200);
}

async function read(project_id: string, id: string): Promise<unknown> {
  const answer = await test.post("/call/read", { project_id, id });
  return (answer.json() as { call: unknown }).call;
}

/** What is stored of a call, whether a question finds it or not. */
async function rowsOf(project_id: string, id: string): Promise<number> {
  const [row] = await test.engine.rows<{ n: number }>(
    sql`SELECT count() AS n FROM calls WHERE project_id = ${param("String", project_id)} AND id = ${param("String", id)}`,
    { name: "test" },
  );
  return row!.n;
}

async function merges(what: "STOP" | "START"): Promise<void> {
  const statement = what === "STOP" ? sql`SYSTEM STOP MERGES calls` : sql`SYSTEM START MERGES calls`;
  await test.engine.command(statement, { name: "test" });
}

async function keepThirtyDays(project_id: string): Promise<void> {
  const url = `/projects/${project_id}/retention`;
  const answer = await test.app.inject({
    method: "PUT",
    url,
    headers: { authorization: authorization() },
    payload: { days: KEPT_DAYS },
  });
  expect(answer.statusCode).toBe(200);
  const mutations = createMutations(test.engine, namedCluster);
  await until(async () => !(await mutations.areRunning("retention")));
  const whileNoInsertRuns = <Result>(work: () => Promise<Result>): Promise<Result> => work();
  await deleteExpired({ engine: test.engine, mutations, clock: systemClock, whileNoInsertRuns });
}

describe.each(["apart", "merged"])("retention of calls whose parts lie %s", (how) => {
  const project_id = `acme/${how}`;

  it("keeps and deletes calls whole, by their latest start", async () => {
    await merges("STOP");
    try {
      await start(project_id, "old", old, { inputs: { n: 1 } });
      await end(project_id, "old", old);
      await start(project_id, "young", young, { inputs: { n: 1 } });
      await end(project_id, "young", old);
      await start(project_id, "long", old);
      await end(project_id, "long", young);
      await start(project_id, "moved here", old, { thread_id: "kept", inputs: { n: 1 } });
      await end(project_id, "moved here", old);
      await start(project_id, "moved here", young);
      await start(project_id, "moved away", young, { inputs: { n: 1 } });
      await end(project_id, "moved away", young);
      await start(project_id, "moved away", old);
      const before = [await read(project_id, "young"), await read(project_id, "moved here")];
      expect(before[1]).toMatchObject({ thread_id: "kept", output: "said", inputs: { n: 1 } });
      if (how === "merged") {
        await merges("START");
        await test.engine.command(sql`OPTIMIZE TABLE calls FINAL`, { name: "test" });
      }

      await keepThirtyDays(project_id);

      for (const gone of ["old", "long", "moved away"]) {
        expect(await read(project_id, gone), gone).toBeNull();
        expect(await rowsOf(project_id, gone), gone).toBe(0);
      }
      expect([await read(project_id, "young"), await read(project_id, "moved here")]).toEqual(before);
    } finally {
      await merges("START");
    }
  });
});
