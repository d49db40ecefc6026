import { afterAll, beforeAll, expect, it } from "vitest";
import { createMutations } from "../../src/admin/projects/mutations.ts";
import { deleteExpired } from "../../src/admin/projects/retention.ts";
import { param, sql, trusted } from "../../src/query/sql.ts";
import type { Engine } from "../../src/store/engine.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { externalCluster } from "../helpers/external-store.ts";
import { materializeAll } from "../helpers/materialize.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

const DAY_MS = 86_400_000;
const KEPT_DAYS = 30;
const old = new Date(Date.now() - 60 * DAY_MS).toISOString();
const young = new Date(Date.now() - DAY_MS).toISOString();

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

async function ask(method: "GET" | "PUT", url: string, payload?: object) {
  const headers = { authorization: authorization() };
  const body = payload === undefined ? {} : { payload };
  const response = await test.app.inject({ method, url, headers, ...body });
  return { status: response.statusCode, body: response.json() };
}
const setRetention = (project: string, days: unknown) =>
  ask("PUT", `/projects/${project}/retention`, { days });

async function start(project_id: string, id: string, at: string): Promise<void> {
  const call = { project_id, id, trace_id: `trace of ${id}`, op_name: "op", started_at: at };
  expect((await test.post("/call/start", { start: call })).status).toBe(200);
}

async function end(project_id: string, id: string, at: string): Promise<void> {
  const summary = { usage: { m: { requests: 1, prompt_tokens: 7 } } };
  const ended = { project_id, id, ended_at: at, output: "said", summary };
  expect((await test.post("/call/end", { end: ended })).status).toBe(200);
}

const read = async (project_id: string, id: string): Promise<unknown> =>
  (await test.post("/call/read", { project_id, id })).json().call;

async function countRows(table: string, project: string): Promise<number> {
  const [row] = await test.engine.rows<{ n: number }>(
    sql`SELECT count() AS n FROM ${trusted(table)} WHERE project_id = ${param("String", project)}`,
    { name: "test" },
  );
  return row!.n;
}

/** Runs the job `inDays` from now, with an engine that may be broken. */
async function expire(inDays = 0, broken: Partial<Engine> = {}): Promise<void> {
  const engine = { ...test.engine, ...broken };
  await deleteExpired({
    engine,
    clock: { now: () => systemClock.now() + inDays * DAY_MS },
    mutations: createMutations(engine, externalCluster),
    runExclusive: (work) => work(),
    log: { info: () => undefined, error: () => undefined },
  });
}

async function entries(project_id: string): Promise<readonly Record<string, unknown>[]> {
  const { body } = await ask("GET", `/audit?action=retention.delete&project_id=${project_id}`);
  return body.entries;
}

it.each(["apart", "merged"])(
  "deletes whole calls by their first start, with their events %s",
  async (how) => {
    const project = `acme/${how}`;
    const merges = (what: "STOP" | "START"): Promise<void> =>
      test.engine.command(trusted(`SYSTEM ${what} MERGES calls`), { name: "test" });
    await merges("STOP");
    try {
      for (const [id, starts, ended] of [
        ["old", [old], old],
        ["young", [young], old],
        ["long", [old], young],
        ["moved here", [old, young], old],
        ["moved away", [young, old], young],
      ] as const) {
        for (const at of starts) await start(project, id, at);
        await end(project, id, ended);
      }
      const kept = ["young", "moved away"];
      const before = await Promise.all(kept.map((id) => read(project, id)));
      if (how === "merged") {
        await merges("START");
        await test.engine.command(sql`OPTIMIZE TABLE calls FINAL`, { name: "test" });
      }
      await setRetention(project, KEPT_DAYS);
      await expire();
      for (const gone of ["old", "long", "moved here"]) expect(await read(project, gone), gone).toBeNull();
      expect(await Promise.all(kept.map((id) => read(project, id)))).toEqual(before);
      const rows = await test.engine.rows<{ id: string }>(
        sql`SELECT DISTINCT id FROM calls WHERE project_id = ${param("String", project)} ORDER BY id`,
        { name: "test" },
      );
      expect(rows.map(({ id }) => id)).toEqual(kept.toSorted());
    } finally {
      await merges("START");
    }
  },
);

it("deletes from every table what is older than the project's retention, with an entry for each project", async () => {
  const projects = ["acme/one", "other/two", "acme/forever"];
  for (const project_id of projects) {
    await start(project_id, "old", old);
    await start(project_id, "young", young);
    await test.post("/call/start", {
      start: { project_id, id: "later", trace_id: "trace of old", op_name: "op", started_at: young },
    });
    await end(project_id, "unknown", old);
    const weave_ref = `weave:///${project_id}/call/old`;
    const feedback = { project_id, weave_ref, feedback_type: "f", payload: {} };
    expect((await test.post("/feedback/create", feedback)).status).toBe(200);
    const point = { project_id, series: "s", hour: Math.floor(Date.parse(old) / 3_600_000) };
    await test.engine.insert("agent_points", [point], { name: "test" });
  }
  await materializeAll(test.engine);
  expect((await ask("GET", "/projects/acme/one/retention")).body).toEqual({ days: null });
  for (const project of projects.slice(0, 2))
    expect((await setRetention(project, KEPT_DAYS)).body).toEqual({ days: KEPT_DAYS });
  expect((await ask("GET", "/projects/acme/one/retention")).body).toEqual({ days: KEPT_DAYS });

  await expire();
  // nothing is left to do
  await expire();
  const before = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - KEPT_DAYS * DAY_MS).toISOString();
  for (const project of projects.slice(0, 2)) {
    expect([await countRows("call_keys", project), await countRows("feedback", project)]).toEqual([2, 1]);
    const details = { days: KEPT_DAYS, before };
    const key = { key_id: "service", key_name: "retention" };
    const entry = { ...key, projects: [project], details, outcome: "done", status: 0 };
    expect(await entries(project)).toEqual([expect.objectContaining(entry)]);
  }
  await expire(40);
  const tables =
    "calls call_keys trace_hours multi_hour_traces feedback feedback_keys agent_points pending_call_events usage_rollup";
  for (const table of tables.split(" ")) {
    for (const project of projects.slice(0, 2))
      expect([table, await countRows(table, project)]).toEqual([table, 0]);
    expect(await countRows(table, "acme/forever")).toBeGreaterThan(0);
  }
  expect(await entries("acme/forever")).toEqual([]);
});

it("has an entry of a deletion that fails; one whose entry cannot be stored is done", async () => {
  await start("acme/failing", "old", old);
  await setRetention("acme/failing", KEPT_DAYS);
  const outcomes = async () => (await entries("acme/failing")).map((entry) => entry["outcome"]);
  const fail = () => Promise.reject(new Error("as the test wants"));
  await expect(expire(0, { command: fail })).rejects.toThrow("as the test wants");
  expect([await countRows("calls", "acme/failing"), await outcomes()]).toEqual([1, ["failed"]]);
  await expire(0, { insert: fail });
  expect([await countRows("calls", "acme/failing"), await outcomes()]).toEqual([0, ["failed"]]);
});

it.each([0, 1.5, 40_000, "30", undefined])("rejects %s days", async (days) => {
  expect((await setRetention("acme/x", days)).status).toBe(422);
});
