import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { advanceDeletions } from "../../src/admin/projects/advance-deletions.ts";
import type { DeletionDeps } from "../../src/admin/projects/delete-projects.ts";
import { createDeletionStore } from "../../src/admin/projects/deletion-store.ts";
import { ERASED_COLUMNS, eraseDeletedCalls } from "../../src/admin/projects/erase-deleted-calls.ts";
import { createMutations } from "../../src/admin/projects/mutations.ts";
import { param, sql, trusted } from "../../src/query/sql.ts";
import { systemClock } from "../../src/shared/clock.ts";
import type { Engine } from "../../src/store/engine.ts";
import { addKey } from "../helpers/add-key.ts";
import { externalCluster } from "../helpers/external-store.ts";
import { materializeAll } from "../helpers/materialize.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

let test: TestApp;
/** The statements that start mutations, as the service sent them. */
const mutations: (() => Promise<void>)[] = [];
beforeAll(async () => {
  test = await startApp({
    wrapEngine: (engine): Engine => ({
      ...engine,
      command(statement, options) {
        const send = () => engine.command(statement, options);
        if (options.name === "mutation_start") mutations.push(send);
        return send();
      },
    }),
  });
});
afterAll(() => test.close());

const options = { name: "test" };
/** The tables of the servers themselves, where the store has several shards. */
const each = { ...options, tables: "per_shard" } as const;

async function ask(method: "GET" | "DELETE", url: string, key?: string) {
  const response = await test.app.inject({ method, url, headers: { authorization: authorization(key) } });
  return { status: response.statusCode, body: response.json() };
}
const stateOf = async (id: string): Promise<string> => (await ask("GET", `/deletions/${id}`)).body.state;
const isDone = (id: string): Promise<void> => until(async () => (await stateOf(id)) === "done");

const noneRuns = (): Promise<void> =>
  until(async () => (await createMutations(test.engine, externalCluster).running()).size === 0);

async function tablesOfProjects(): Promise<readonly string[]> {
  const rows = await test.engine.rows<{ table: string }>(
    sql`SELECT table FROM system.columns INNER JOIN system.tables AS t ON t.database = database AND t.name = table
        WHERE database = currentDatabase() AND name = 'project_id' AND t.engine LIKE '%MergeTree'`,
    { ...options, tables: "local" },
  );
  const kept = ["deletions", "retention"];
  return rows.map(({ table }) => table).filter((table) => !kept.includes(table));
}

async function count(table: string, project: string): Promise<number> {
  const [row] = await test.engine.rows<{ n: number }>(
    sql`SELECT count() AS n FROM ${trusted(table)} WHERE project_id = ${param("String", project)}`,
    options,
  );
  return row!.n;
}

const at = "2026-01-01T00:00:00Z";
/** Stores something in every table with projects. */
async function fill(project_id: string): Promise<void> {
  const call = { project_id, id: "c", trace_id: "t", op_name: "secret", started_at: at };
  const answers = await Promise.all([
    test.post("/call/start", { start: { ...call, inputs: { secret: 1 } } }),
    test.post("/call/start", { start: { ...call, id: "later", started_at: "2026-01-01T02:00:00Z" } }),
    test.post("/call/end", { end: { project_id, id: "unknown", ended_at: at } }),
    test.post("/feedback/create", {
      project_id,
      weave_ref: `weave:///${project_id}/call/c`,
      feedback_type: "f",
      payload: { secret: 1 },
    }),
    test.post("/cost/create", {
      project_id,
      costs: { m: { prompt_token_cost: 1, completion_token_cost: 1 } },
    }),
    test.post("/budget/create", { project_id, scope: "project", limit: { usd: 1 } }),
    test.post("/obj/create", { obj: { project_id, object_id: "o", val: { secret: 1 } } }),
    test.post("/table/create", { table: { project_id, rows: [{ secret: 1 }] } }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  await test.engine.insert("file_chunks", [{ project_id, digest: "d", chunk: 0, chunk_count: 1 }], options);
  await test.engine.insert("training_owners", [{ id: project_id, project_id }], options);
  await test.engine.insert("training_jobs", [{ project_id, id: "j" }], options);
  await test.engine.insert("trace_limits", [{ project_id, trace_id: "t", limit_tokens: 1 }], options);
  await test.engine.insert("budget_claims", [{ project_id, budget: "b" }], options);
  await test.engine.insert("dataset_exports", [{ project_id, id: "e" }], options);
  await test.engine.insert("dataset_export_calls", [{ project_id, export_id: "e", place: 0 }], options);
  await test.engine.insert("agent_points", [{ project_id, series: "s" }], options);
  await test.engine.insert("budget_alerts", [{ id: "msg_1", project_id, expires_at: 4e9 }], options);
  await materializeAll(test.engine);
}

describe("deleting a project", () => {
  it("empties it at once, and only it, for any name; it can be used again; a late statement deletes nothing more", async () => {
    const tables = await tablesOfProjects();
    const all = (project: string) => Promise.all(tables.map((table) => count(table, project)));
    const evil = "acme/' OR 1 OR project_id = 'calls 00000000-0000-0000-0000-000000000000'";
    for (const project of ["acme/doomed", evil, "acme/kept"]) await fill(project);
    const before = await all("acme/kept");
    expect(before).not.toContain(0);

    mutations.length = 0;
    const ids: string[] = [];
    for (const project of ["acme/doomed", evil]) {
      const path = project.split("/").map(encodeURIComponent).join("/");
      const { status, body } = await ask("DELETE", `/projects/${path}`);
      expect([status, body.state]).toEqual([202, "running"]);
      expect(new Set(await all(project))).toEqual(new Set([0]));
      ids.push(body.id as string);
    }
    await fill("acme/doomed");
    const again = await all("acme/doomed");
    expect(again).not.toContain(0);
    expect(mutations.length).toBeGreaterThanOrEqual(2 * tables.length);
    await Promise.all(mutations.map((send) => send()));
    for (const id of ids) await isDone(id);
    const { body } = await ask("GET", `/deletions/${ids[0]}`);
    expect(body).toMatchObject({ id: ids[0], project_id: "acme/doomed", what: "project" });
    expect(body.done_at >= body.requested_at).toBe(true);
    expect((await ask("GET", `/deletions/${ids[0]}`)).body).toEqual(body);
    await noneRuns();
    expect([await all("acme/kept"), await all("acme/doomed")]).toEqual([before, again]);
  });

  it("is running until every mutation is done, and shared by those who ask meanwhile", async () => {
    const projects = Array.from({ length: 6 }, (_, n) => `acme/many-${n}`);
    const start = { id: "c", trace_id: "t", op_name: "op", started_at: at };
    for (const project_id of projects) await test.post("/call/start", { start: { ...start, project_id } });
    await test.engine.command(sql`SYSTEM STOP MERGES calls`, each);
    const deletions = await Promise.all(projects.map((project) => ask("DELETE", `/projects/${project}`)));
    const ids = deletions.map(({ body }) => body.id as string);
    const store = createDeletionStore(test.engine);
    const tags = await Promise.all(ids.map(async (id) => (await store.find(id))!.tag));
    expect(new Set(tags).size).toBeLessThan(projects.length);
    for (const project of projects) expect(await count("calls", project)).toBe(0);
    for (const id of ids) expect(await stateOf(id)).toBe("running");
    await test.engine.command(sql`SYSTEM START MERGES calls`, each);
    for (const id of ids) await isDone(id);
  });

  it("is shown only to keys of the project", async () => {
    const key = await addKey(test, ["admin"], ["other/*"]);
    const { body } = await ask("DELETE", "/projects/acme/private");
    expect((await ask("GET", `/deletions/${body.id}`, key)).status).toBe(404);
    expect((await ask("GET", `/deletions/${body.id}`)).status).toBe(200);
    expect((await ask("GET", "/deletions/none")).status).toBe(404);
  });
});

describe("deleting calls", () => {
  const project_id = "acme/erase";
  const deps = (): DeletionDeps => ({
    engine: test.engine,
    deletions: createDeletionStore(test.engine),
    mutations: createMutations(test.engine, externalCluster),
    clock: systemClock,
    runExclusive: (work) => work(),
  });
  const start = (id: string, project = project_id) =>
    test.post("/call/start", {
      start: {
        project_id: project,
        id,
        trace_id: "t",
        thread_id: id,
        op_name: "secret",
        started_at: at,
        inputs: { a: "secret" },
      },
    });
  const end = (id: string) =>
    test.post("/call/end", {
      end: { project_id, id, ended_at: at, output: "secret", summary: { a: "secret" } },
    });
  const deleteCalls = async (call_ids: string[], project = project_id) =>
    (await test.post("/calls/delete", { project_id: project, call_ids })).json();
  const secrets = async (project = project_id): Promise<readonly string[]> => {
    const rows = await test.engine.rows<{ id: string }>(
      sql`SELECT DISTINCT id FROM (
            SELECT id, formatRowNoNewline('JSONEachRow', *) AS text FROM calls WHERE project_id = ${param("String", project)}
            UNION ALL
            SELECT id, columns AS text FROM pending_call_events WHERE project_id = ${param("String", project)}
          ) WHERE position(text, 'secret') > 0 ORDER BY id`,
      options,
    );
    return rows.map(({ id }) => id);
  };
  const inRollup = async (): Promise<readonly string[]> => {
    const rows = await test.engine.rows<{ thread: string }>(
      sql`SELECT DISTINCT thread_id AS thread FROM usage_rollup
          WHERE project_id = ${param("String", project_id)} AND kind > 0 ORDER BY thread`,
      options,
    );
    return rows.map(({ thread }) => thread);
  };

  it("erases their content, also of pending and late events", async () => {
    for (const id of ["gone", "stays"]) {
      await start(id);
      await end(id);
    }
    for (const id of ["pending-gone", "pending-stays"]) await end(id);
    await materializeAll(test.engine);
    expect(await inRollup()).toEqual(["gone", "stays"]);
    const { deletion_id, num_deleted } = await deleteCalls(["gone", "pending-gone"]);
    expect(num_deleted).toBe(1);
    expect(await secrets()).toEqual(["gone", "pending-gone", "pending-stays", "stays"]);
    expect(await stateOf(deletion_id)).toBe("running");

    await advanceDeletions(deps());
    expect(await secrets()).toEqual(["pending-stays", "stays"]);
    expect(await inRollup()).toEqual([]);
    await isDone(deletion_id);
    await materializeAll(test.engine);
    expect(await inRollup()).toEqual(["stays"]);
    expect((await test.post("/call/read", { project_id, id: "stays" })).json().call.output).toBe("secret");

    // late parts: still deleted, and erased by a later run
    await start("gone");
    await end("pending-gone");
    expect((await test.post("/call/read", { project_id, id: "gone" })).json().call).toBeNull();
    await until(async () => {
      await advanceDeletions(deps());
      return (await secrets()).join() === "pending-stays,stays";
    });
  });

  it("erases the oldest first, and is not done before all of the project's are erased", async () => {
    await noneRuns();
    await test.engine.command(sql`SYSTEM STOP MERGES calls`, each);
    const receipts: string[] = [];
    for (const [project, calls] of [
      ["acme/large", ["a", "b", "c"]],
      ["acme/small", ["a"]],
    ] as const) {
      for (const id of calls) await start(id, project);
      receipts.push((await deleteCalls([...calls], project)).deletion_id);
    }
    const states = () => Promise.all(receipts.map(stateOf));
    const left = async () => [(await secrets("acme/large")).length, (await secrets("acme/small")).length];
    await eraseDeletedCalls(deps(), 2);
    expect([await left(), await states()]).toEqual([
      [1, 1],
      ["running", "running"],
    ]);
    // one mutation at a time
    await eraseDeletedCalls(deps(), 2);
    expect(await left()).toEqual([1, 1]);
    await test.engine.command(sql`SYSTEM START MERGES calls`, each);
    await until(async () => {
      await eraseDeletedCalls(deps(), 2);
      return (await states()).join() === "done,done";
    });
    expect(await left()).toEqual([0, 0]);
  });

  it("covers all columns of a call", async () => {
    const kept =
      "hour project_id trace_id id parent_id started_at ended_at deleted_at inclusive usage_source fingerprint";
    const rows = await test.engine.rows<{ name: string }>(
      sql`SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'calls'`,
      options,
    );
    expect([...kept.split(" "), ...ERASED_COLUMNS].sort()).toEqual(rows.map((row) => row.name).sort());
  });
});
