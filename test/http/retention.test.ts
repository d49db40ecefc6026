import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMutations } from "../../src/admin/projects/mutations.ts";
import { deleteExpired } from "../../src/admin/projects/retention.ts";
import { param, sql } from "../../src/query/sql.ts";
import type { Engine } from "../../src/store/engine.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { until } from "../helpers/until.ts";
import { externalCluster } from "../helpers/external-store.ts";
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

/** Counts the stored rows of a call, also of invisible ones. */
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

async function setRetention(project_id: string): Promise<void> {
  const url = `/projects/${project_id}/retention`;
  const answer = await test.app.inject({
    method: "PUT",
    url,
    headers: { authorization: authorization() },
    payload: { days: KEPT_DAYS },
  });
  expect(answer.statusCode).toBe(200);
}

interface Broken {
  /** The inserts into the audit log that fail, counted from 1. */
  readonly audit?: number;
  readonly mutations?: boolean;
}

async function expire({ audit: failing, mutations: isBroken }: Broken = {}): Promise<void> {
  let inserts = 0;
  const engine: Engine = {
    ...test.engine,
    insert: (...args) =>
      args[0] === "audit" && ++inserts === failing
        ? Promise.reject(new Error("the disk is full"))
        : test.engine.insert(...args),
  };
  const mutations = createMutations(test.engine, externalCluster);
  await until(async () => !(await mutations.areRunning("retention")));
  const runExclusive = <Result>(work: () => Promise<Result>): Promise<Result> => work();
  const start: typeof mutations.start = isBroken
    ? () => Promise.reject(new Error("no mutation"))
    : (...args) => mutations.start(...args);
  const deps = { engine, clock: systemClock, runExclusive, log: pino({ level: "silent" }) };
  await deleteExpired({ ...deps, mutations: { ...mutations, start } });
}

async function keepThirtyDays(project_id: string): Promise<void> {
  await setRetention(project_id);
  await expire();
}

describe.each(["apart", "merged"])("retention of calls whose events are %s", (how) => {
  const project_id = `acme/${how}`;

  it("keeps and deletes complete calls, by their latest start", async () => {
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

describe("the audit log", () => {
  const projects = ["acme/one", "other/two"];

  async function entries(project_id: string): Promise<readonly Record<string, unknown>[]> {
    const query = { project_id, action: "retention.delete" };
    const headers = { authorization: authorization() };
    const answer = await test.app.inject({ url: "/audit", query, headers });
    return answer.json<{ entries: Record<string, unknown>[] }>().entries;
  }

  async function fill(): Promise<void> {
    for (const project of projects) {
      await start(project, "old", old);
      await setRetention(project);
    }
  }
  const left = () => Promise.all(projects.map((project) => rowsOf(project, "old")));
  const outcomes = async (project: string) => (await entries(project)).map((entry) => entry["outcome"]);

  it("has no entry if nothing is old, and one for each project whose rows are deleted", async () => {
    await start("acme/none", "young", young);
    await setRetention("acme/none");
    await fill();
    await expire();
    expect(await entries("acme/none")).toEqual([]);
    for (const project of projects) {
      const found = await entries(project);
      const before = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - KEPT_DAYS * DAY_MS).toISOString();
      const details = { days: KEPT_DAYS, before };
      const key = { key_id: "service", key_name: "retention" };
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({ ...key, projects: [project], details, outcome: "done", status: 0 });
    }
    await until(async () => (await left()).every((rows) => rows === 0));
    await until(async () => !(await createMutations(test.engine, externalCluster).areRunning("retention")));
    await expire();
    for (const project of projects) expect(await entries(project)).toHaveLength(1);
  });

  it("has an entry if the deletion fails, which is done although it cannot be stored", async () => {
    await fill();
    await expect(expire({ mutations: true })).rejects.toThrow("no mutation");
    expect(await left()).toEqual([1, 1]);
    expect((await outcomes(projects[0]!))[0]).toBe("failed");
    await expire({ audit: 1 });
    await until(async () => (await left()).every((rows) => rows === 0));
    expect(await outcomes(projects[0]!)).toHaveLength(2);
  });
});
