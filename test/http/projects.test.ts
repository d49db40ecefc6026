import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateKey } from "../../src/http/auth/api-key.ts";
import { createKeyStore } from "../../src/http/auth/key-store.ts";
import { param, sql, trusted } from "../../src/query/sql.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";
import { createDeletionStore } from "../../src/admin/projects/deletion-store.ts";
import { ERASED_COLUMNS } from "../../src/admin/projects/erase-deleted-calls.ts";
import { createMutations } from "../../src/admin/projects/mutations.ts";
import { deleteExpired } from "../../src/admin/projects/retention.ts";
import { createProjectDeleter } from "../../src/admin/projects/delete-projects.ts";
import type { Project } from "../../src/shared/project.ts";
import { advanceDeletions } from "../../src/admin/projects/advance-deletions.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { externalCluster } from "../helpers/external-store.ts";
import { materializeAll } from "../helpers/materialize.ts";
import { until } from "../helpers/until.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const options = { name: "test" };
/** The tables of the servers themselves, where the store has several shards. */
const local = { ...options, tables: "local" } as const;
const each = { ...options, tables: "per_shard" } as const;

async function ask(method: "GET" | "PUT" | "DELETE", url: string, as: { key?: string; body?: object } = {}) {
  const response = await test.app.inject({
    method,
    url,
    headers: { authorization: authorization(as.key) },
    ...(as.body === undefined ? {} : { payload: as.body }),
  });
  return { status: response.statusCode, body: response.json() };
}

async function tablesOfProjects(): Promise<readonly string[]> {
  const rows = await test.engine.rows<{ table: string }>(
    sql`SELECT table FROM system.columns INNER JOIN system.tables AS t ON t.database = database AND t.name = table
        WHERE database = currentDatabase() AND name = 'project_id' AND t.engine LIKE '%MergeTree'`,
    local,
  );
  return rows.map((row) => row.table);
}

async function countRows(table: string, project: string): Promise<number> {
  const [row] = await test.engine.rows<{ n: number }>(
    sql`SELECT count() AS n FROM ${trusted(table)} WHERE project_id = ${param("String", project)}`,
    options,
  );
  return row!.n;
}

/** For how long replaced parts stay on the disk. A table's cleaner learns of it when the table is attached. */
async function keepOldParts(seconds: number): Promise<void> {
  for (const table of await tablesOfProjects()) {
    const name = trusted(table);
    await test.engine.command(
      sql`ALTER TABLE ${name} MODIFY SETTING old_parts_lifetime = ${trusted(String(seconds))},
          cleanup_delay_period = 1, max_cleanup_delay_period = 1, cleanup_delay_period_random_add = 0`,
      each,
    );
    await test.engine.command(sql`DETACH TABLE ${name} SYNC`, each);
    await test.engine.command(sql`ATTACH TABLE ${name}`, each);
  }
}

async function startCall(project_id: string): Promise<void> {
  const call = { project_id, id: "c", trace_id: "t", op_name: "op", started_at: "2026-01-01T00:00:00Z" };
  expect((await test.post("/call/start", { start: call })).status).toBe(200);
}

async function fill(project_id: string): Promise<void> {
  const call = { project_id, id: "c", trace_id: "t", op_name: "secret", started_at: "2026-01-01T00:00:00Z" };
  const answers = await Promise.all([
    test.post("/call/start", { start: { ...call, inputs: { secret: 1 } } }),
    test.post("/call/start", { start: { ...call, id: "later", started_at: "2026-01-01T02:00:00Z" } }),
    test.post("/call/end", { end: { project_id, id: "unknown", ended_at: "2026-01-01T00:00:01Z" } }),
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
    test.post("/cost/factor/create", { project_id, factors: [{ factor: 0.85, note: "secret" }] }),
    test.post("/obj/create", { obj: { project_id, object_id: "o", val: { secret: 1 } } }),
    test.post("/table/create", { table: { project_id, rows: [{ secret: 1 }] } }),
  ]);
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
  await test.engine.insert("file_chunks", [{ project_id, digest: "d", chunk: 0, chunk_count: 1 }], options);
  await test.engine.insert("training_owners", [{ id: project_id, project_id }], options);
  await materializeAll(test.engine);
}

describe("deleting a project", () => {
  it("is done once no part contains its rows, and not while a replaced part is on disk", async () => {
    await keepOldParts(10_000);
    await fill("acme/doomed");
    await fill("acme/kept");
    const tables = (await tablesOfProjects()).filter(
      (table) => !["deletions", "retention", "project_generations"].includes(table),
    );
    const before = await Promise.all(tables.map((table) => countRows(table, "acme/kept")));
    expect(before.filter((n) => n === 0)).toEqual([]);

    const { status, body } = await ask("DELETE", "/projects/acme/doomed");
    expect(status).toBe(202);
    expect(body).toEqual({ id: expect.any(String), state: "running" });

    for (const table of tables) await until(async () => (await countRows(table, "acme/doomed")) === 0);
    const inactive = async (): Promise<number> =>
      (
        await test.engine.rows(
          sql`SELECT 1 FROM system.parts WHERE NOT active AND database = currentDatabase() AND table = 'calls'`,
          each,
        )
      ).length;
    await until(async () => (await inactive()) > 0);
    expect((await ask("GET", `/deletions/${body.id}`)).body).toMatchObject({
      id: body.id,
      project_id: "acme/doomed",
      what: "project",
      state: "running",
      done_at: null,
    });

    await fill("acme/doomed");
    await keepOldParts(0);
    await until(async () => (await ask("GET", `/deletions/${body.id}`)).body.state === "done");
    const deletion = (await ask("GET", `/deletions/${body.id}`)).body;
    expect(deletion.done_at >= deletion.requested_at).toBe(true);
    expect((await ask("GET", `/deletions/${body.id}`)).body).toEqual(deletion);

    const after = (project: string) => Promise.all(tables.map((table) => countRows(table, project)));
    expect(await after("acme/kept")).toEqual(before);
    expect((await after("acme/doomed")).filter((n) => n === 0)).toEqual([]);
  });

  it("deletes only that project, for any name", async () => {
    const evil = "acme/' OR 1 OR project_id = '";
    await fill("acme/other");
    await fill(evil);
    const before = await countRows("calls", "acme/other");
    expect(
      (await ask("DELETE", `/projects/${evil.split("/").map(encodeURIComponent).join("/")}`)).status,
    ).toBe(202);
    await until(async () => (await countRows("calls", evil)) === 0);
    expect(await countRows("calls", "acme/other")).toBe(before);
  });

  it("shares mutations with concurrent deletions, and precedes other projects of an entity", async () => {
    const deletions = createDeletionStore(test.engine);
    const deleteProject = createProjectDeleter({
      engine: test.engine,
      deletions,
      mutations: createMutations(test.engine, externalCluster),
      clock: systemClock,
      runExclusive: (work) => work(),
    });
    const asked = [...Array.from({ length: 130 }, (_, n) => `evil/p${n}`), "good/one"] as Project[];
    await Promise.all(["evil/p0", "evil/p1", "good/one"].map((project_id) => startCall(project_id)));
    const ids = await Promise.all(asked.map(deleteProject));
    const found = await Promise.all(ids.map(async (id) => (await deletions.find(id))!));
    expect(found.map(({ project }) => project)).toEqual(asked);
    const batches = Map.groupBy(found, ({ mutations }) => JSON.stringify(mutations));
    expect([...batches.values()].map(({ length }) => length)).toEqual([100, 31]);
    expect([...batches.values()][0]).toContain(found.at(-1));
    for (const project of asked) expect(await countRows("calls", project)).toBe(0);
  });

  it("shows a deletion only to keys of its project", async () => {
    const { id, text, secretHash } = generateKey();
    const projects = ["other/*"];
    await createKeyStore(test.engine).add({
      id,
      name: "n",
      secretHash,
      scopes: ["admin"],
      projects,
      expiresAtMs: null,
    });
    const { body } = await ask("DELETE", "/projects/acme/private");
    expect((await ask("GET", `/deletions/${body.id}`, { key: text })).status).toBe(404);
    expect((await ask("GET", `/deletions/${body.id}`)).status).toBe(200);
    expect((await ask("GET", "/deletions/none")).status).toBe(404);
  });
});

describe("deleting calls", () => {
  const project_id = "acme/erase";
  const at = "2026-01-01T00:00:00Z";
  const start = (id: string) => ({
    project_id,
    id,
    trace_id: "t",
    thread_id: id,
    op_name: "secret",
    started_at: at,
    inputs: { a: "secret" },
  });
  const end = (id: string) => ({ project_id, id, ended_at: at, output: "secret", summary: { a: "secret" } });
  const seeItThrough = async (): Promise<void> =>
    advanceDeletions({
      engine: test.engine,
      deletions: createDeletionStore(test.engine),
      mutations: createMutations(test.engine, externalCluster),
      clock: systemClock,
      runExclusive: (work) => work(),
    });
  const secrets = async (): Promise<readonly string[]> => {
    const rows = await test.engine.rows<{ id: string }>(
      sql`SELECT DISTINCT id FROM (
            SELECT id, formatRowNoNewline('JSONEachRow', *) AS text FROM calls WHERE project_id = ${param("String", project_id)}
            UNION ALL
            SELECT id, columns AS text FROM pending_call_events WHERE project_id = ${param("String", project_id)}
          ) WHERE position(text, 'secret') > 0 ORDER BY id`,
      options,
    );
    return rows.map((row) => row.id);
  };
  const inRollup = async (): Promise<readonly string[]> => {
    const rows = await test.engine.rows<{ thread: string }>(
      sql`SELECT DISTINCT thread_id AS thread FROM usage_rollup
          WHERE project_id = ${param("String", project_id)} AND kind > 0 ORDER BY thread`,
      options,
    );
    return rows.map((row) => row.thread);
  };
  const stateOf = async (id: string): Promise<string> => (await ask("GET", `/deletions/${id}`)).body.state;

  it("erases their content, also in pending events, and is done once no part contains it", async () => {
    await keepOldParts(10_000);
    for (const id of ["gone", "stays"]) {
      await test.post("/call/start", { start: start(id) });
      await test.post("/call/end", { end: end(id) });
    }
    for (const id of ["pending-gone", "pending-stays"]) await test.post("/call/end", { end: end(id) });
    await materializeAll(test.engine);
    expect(await inRollup()).toEqual(["gone", "stays"]);
    const call_ids = ["gone", "pending-gone"];
    const { deletion_id, num_deleted } = (await test.post("/calls/delete", { project_id, call_ids })).json();
    expect(num_deleted).toBe(1);
    expect(await secrets()).toEqual(["gone", "pending-gone", "pending-stays", "stays"]);
    expect(await stateOf(deletion_id)).toBe("running");

    await seeItThrough();
    await until(async () => (await secrets()).join() === "pending-stays,stays");
    await until(async () => (await inRollup()).length === 0);
    await seeItThrough();
    expect(await stateOf(deletion_id)).toBe("running");
    await materializeAll(test.engine);
    expect(await inRollup()).toEqual(["stays"]);

    await keepOldParts(0);
    await until(async () => (await stateOf(deletion_id)) === "done");
    expect((await test.post("/call/read", { project_id, id: "stays" })).json().call.output).toBe("secret");

    // late parts: still deleted, and erased by a later run
    await test.post("/call/start", { start: start("gone") });
    await test.post("/call/end", { end: end("pending-gone") });
    expect((await test.post("/call/read", { project_id, id: "gone" })).json().call).toBeNull();
    await until(async () => {
      await seeItThrough();
      return (await secrets()).join() === "pending-stays,stays";
    });
  });

  it("covers all columns of a call", async () => {
    const kept = [
      "hour",
      "project_id",
      "trace_id",
      "id",
      "parent_id",
      "started_at",
      "ended_at",
      "deleted_at",
      "inclusive",
      "usage_source",
      "fingerprint",
    ];
    const rows = await test.engine.rows<{ name: string }>(
      sql`SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'calls'`,
      options,
    );
    expect([...kept, ...ERASED_COLUMNS].sort()).toEqual(rows.map((row) => row.name).sort());
  });
});

describe("retention", () => {
  const url = "/projects/acme/old/retention";

  it("deletes only data older than the project's retention", async () => {
    await fill("acme/old");
    await fill("acme/forever");
    const start = {
      project_id: "acme/old",
      id: "new",
      trace_id: "t",
      op_name: "o",
      started_at: new Date().toISOString(),
    };
    await test.post("/call/start", { start });
    expect((await ask("GET", url)).body).toEqual({ days: null });
    expect((await ask("PUT", url, { body: { days: 30 } })).body).toEqual({ days: 30 });
    expect((await ask("GET", url)).body).toEqual({ days: 30 });

    const mutations = createMutations(test.engine, externalCluster);
    const runExclusive = <Result>(work: () => Promise<Result>): Promise<Result> => work();
    const deps = { engine: test.engine, mutations, runExclusive, log: pino({ level: "silent" }) };
    await deleteExpired({ ...deps, clock: systemClock });
    const forever = await countRows("calls", "acme/forever");
    await until(async () => (await countRows("calls", "acme/old")) === 1);
    await until(async () => (await countRows("call_keys", "acme/old")) === 1);
    expect(await countRows("feedback", "acme/old")).toBe(1);
    expect(await countRows("calls", "acme/forever")).toBe(forever);

    const clock = { now: () => Date.now() + 40 * 86_400_000 };
    await until(async () => !(await mutations.areRunning("retention")));
    await deleteExpired({ ...deps, clock });
    for (const table of [
      "calls",
      "call_keys",
      "trace_hours",
      "multi_hour_traces",
      "feedback",
      "feedback_keys",
      "pending_call_events",
      "usage_rollup",
    ]) {
      await until(async () => (await countRows(table, "acme/old")) === 0);
      expect(await countRows(table, "acme/forever")).toBeGreaterThan(0);
    }
  });

  it.each([0, 1.5, 40_000, "30", undefined])("rejects %s days", async (days) => {
    expect((await ask("PUT", url, { body: { days } })).status).toBe(422);
  });
});
