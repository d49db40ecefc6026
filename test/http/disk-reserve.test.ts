import type { AddressInfo } from "node:net";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createDiskReserve } from "../../src/admin/disk-reserve.ts";
import { FairSemaphore } from "../../src/fairness/fair-semaphore.ts";
import { sql } from "../../src/query/sql.ts";
import type { Engine } from "../../src/store/engine.ts";
import { hasExternalStore } from "../helpers/external-store.ts";
import { startReferenceUpstream } from "../helpers/reference-upstream/server.ts";
import { authorization, startApp, type TestResponse, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const RESERVE = 1_000_000_000;
const project_id = "acme/app";
const upstream = await startReferenceUpstream();

/** The free space that the store reports, once `reported` allows. */
let free = 2 * RESERVE;
let reported = Promise.resolve();
const onDisk = (engine: Engine): Engine => ({
  ...engine,
  rows: async <Row>(query: Parameters<Engine["rows"]>[0], options: Parameters<Engine["rows"]>[1]) => {
    if (options.name !== "disk_space") return engine.rows<Row>(query, options);
    await reported;
    return [
      { free: 3 * RESERVE, total: 10 * RESERVE },
      { free, total: 10 * RESERVE },
    ] as Row[];
  },
});

let test: TestApp;
const start = async (settings: Record<string, string>, wrapEngine = onDisk): Promise<void> => {
  test = await startApp({
    settings: { TRAINING_UPSTREAM_URL: upstream.url, ...settings },
    wrapEngine,
  });
  await test.app.listen({ host: "127.0.0.1", port: 0 });
};
afterEach(() => test.close());
afterAll(() => upstream.close());

let last = 0;
const startOf = (bytes = 10) => ({
  project_id,
  id: `c${++last}`,
  trace_id: "t",
  op_name: "o",
  started_at: "2026-01-01T00:00:00Z",
  attributes: {},
  inputs: { text: "z".repeat(bytes) },
});
const call = (bytes?: number): Promise<TestResponse> => test.post("/call/start", { start: startOf(bytes) });
const send = async (method: "GET" | "PUT" | "DELETE", url: string, payload?: object) => {
  const answer = await test.app.inject({
    method,
    url,
    headers: { authorization: authorization() },
    ...(payload === undefined ? {} : { payload }),
  });
  return answer.statusCode;
};
const statusOf = async (answer: Promise<{ status: number }>): Promise<number> => (await answer).status;

const ingest: Readonly<Record<string, () => Promise<TestResponse>>> = {
  call: () => call(),
  "large batch": () =>
    test.post("/call/upsert_batch", {
      batch: Array.from({ length: 6 }, () => ({ mode: "start", req: { start: startOf(1_000_000) } })),
    }),
  rename: () => test.post("/call/update", { project_id, call_id: "c1", display_name: "n" }),
  feedback: () => test.post("/feedback/create", feedback),
  object: () => test.post("/obj/create", { obj: { project_id, object_id: "o", val: { n: ++last } } }),
  table: () => test.post("/table/create", { table: { project_id, rows: [{ n: ++last }] } }),
};
const feedbackIds: string[] = [];
const feedback = {
  project_id,
  weave_ref: `weave:///${project_id}/call/c1`,
  feedback_type: "f",
  payload: { n: 1 },
};

/** Requests that may use half of the reserve. */
const needed: Readonly<Record<string, () => Promise<{ status: number }>>> = {
  "deletion of a call": () => test.post("/calls/delete", { project_id, call_ids: [`c${last}`] }),
  "purge of feedback": () =>
    test.post("/feedback/purge", {
      project_id,
      query: { $expr: { $eq: [{ $getField: "id" }, { $literal: feedbackIds.pop() }] } },
    }),
  completion: async () => {
    const { port } = test.app.server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: authorization(undefined, "bearer"),
        "openai-project": project_id,
        "content-type": "application/json",
      },
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hello" }] }),
    });
    await answer.text();
    return answer;
  },
};
const all = async (which: typeof needed): Promise<Record<string, number>> => {
  const statuses: Record<string, number> = {};
  for (const [name, ask] of Object.entries(which)) statuses[name] = await statusOf(ask());
  return statuses;
};
const each = (which: typeof needed, status: number) =>
  Object.fromEntries(Object.keys(which).map((name) => [name, status]));

/** Runs the requests that must always be accepted; deletes the key that it creates. */
async function operate(): Promise<void> {
  const body = { name: "k", projects: [project_id], scopes: ["ingest"] };
  const made = await test.post("/api-keys", body);
  expect(made.status).toBe(201);
  const { id, key } = made.json() as { id: string; key: string };
  const used = (): Promise<number> => statusOf(test.post("/call/start", { start: startOf() }, { key }));
  expect(await used()).toBe(free < RESERVE ? 507 : 200);
  expect(await send("DELETE", `/api-keys/${id}`)).toBe(204);
  expect(await used()).toBe(401);
  expect(await send("PUT", `/projects/${project_id}/retention`, { days: 30 })).toBe(200);
  expect(await send("DELETE", "/projects/acme/other")).toBe(202);
  expect(await send("GET", "/audit")).toBe(200);
  expect(await statusOf(test.post("/trace/usage", { project_id }))).toBe(200);
}

const readiness = async (url = "/readyz/writes") => {
  const answer = await test.app.inject(url);
  return [answer.statusCode, answer.json().detail];
};
const NOT_READY = [503, "The store cannot be written to: its disk is almost full."];

it.skipIf(hasExternalStore)("keeps the last known free space while the table is missing", async () => {
  await start({}, (engine) => engine);
  const { engine } = test;
  const rename = { name: "test_rename" };
  const reserve = createDiskReserve(engine, undefined, new FairSemaphore({ capacity: 1 }));
  await reserve.read();
  const known = reserve.freeBytes();
  await engine.command(sql`RENAME TABLE calls TO calls_away`, rename);
  await reserve.read();
  expect([reserve.freeBytes(), known > 0]).toEqual([known, true]);
  await engine.command(sql`RENAME TABLE calls_away TO calls`, rename);
});

describe("a disk that becomes full", () => {
  it("is reserved for deletions and paid completions, then for the operator, and can be used again", async () => {
    await start({ MIN_FREE_DISK_BYTES: String(RESERVE) });
    expect(await all(ingest)).toEqual(each(ingest, 200));
    for (const _ of [1, 2]) feedbackIds.push((await ingest["feedback"]!()).json().id as string);
    expect(await readiness()).toEqual([200, undefined]);

    free = 0.9 * RESERVE;
    await until(async () => (await call()).status === 507);
    expect(await all(ingest)).toEqual(each(ingest, 507));
    expect((await call()).json().detail).toContain("disk is almost full");
    expect(await all(needed)).toEqual(each(needed, 200));
    await operate();
    await until(async () => (await readiness())[0] === 503);
    expect(await readiness()).toEqual(NOT_READY);
    expect(await readiness("/readyz")).toEqual(NOT_READY);
    expect((await readiness("/readyz/reads"))[0]).toBe(200);

    free = 0.4 * RESERVE;
    await until(async () => (await needed["completion"]!()).status === 503);
    expect(await all(ingest)).toEqual(each(ingest, 507));
    expect(await all(needed)).toEqual(each(needed, 503));
    await operate();

    free = 2 * RESERVE;
    await until(async () => (await call()).status === 200);
    await until(async () => (await readiness())[0] === 200);
    await operate();
  });

  it("counts writes between two measurements", async () => {
    free = RESERVE + 2_000_000;
    await start({ MIN_FREE_DISK_BYTES: String(RESERVE) });
    const freeBytes = async (): Promise<number> => {
      const answer = await test.app.inject({ url: "/metrics", headers: { authorization: authorization() } });
      return Number(/^sumtree_store_free_bytes (\S+)$/m.exec(answer.payload)![1]);
    };
    await until(async () => (await freeBytes()) === 2_000_000);
    const next = Promise.withResolvers<void>();
    reported = next.promise;
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(500_000)));
    const stored = answers.filter(({ status }) => status === 200).length;
    expect(answers.filter(({ status }) => status === 507)).toHaveLength(8 - stored);
    // the one that goes beyond is the last
    expect(stored).toBeLessThanOrEqual(5);
    next.resolve();
  });
});

it("MIN_FREE_DISK_BYTES applies to the disk of the store", async () => {
  await start({ MIN_FREE_DISK_BYTES: String(2 ** 52) }, (engine) => engine);
  await until(async () => (await call()).status === 507);
  expect(await readiness()).toEqual(NOT_READY);
});

it("a key whose revocation cannot be stored is rejected nevertheless", async () => {
  await start({}, (engine) => ({
    ...engine,
    insert: async (table, rows, options) => {
      if (isFull && (table === "api_keys" || table === "audit"))
        return engine.insert("calls", [{ nothing: 1 }], options);
      return engine.insert(table, rows, options);
    },
  }));
  let isFull = false;
  const made = await test.post("/api-keys", { name: "k", projects: [project_id], scopes: ["ingest"] });
  const { id, key } = made.json() as { id: string; key: string };
  const used = (): Promise<number> => statusOf(test.post("/call/start", { start: startOf() }, { key }));
  expect(await used()).toBe(200);
  isFull = true;
  expect(await send("DELETE", `/api-keys/${id}`)).toBeGreaterThanOrEqual(500);
  expect(await used()).toBe(401);
});
