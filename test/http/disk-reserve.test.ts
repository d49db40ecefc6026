import type { AddressInfo } from "node:net";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { sql } from "../../src/query/sql.ts";
import type { Engine } from "../../src/store/engine.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { hasExternalStore } from "../helpers/external-store.ts";
import { startReferenceUpstream } from "../helpers/reference-upstream/server.ts";
import { authorization, startApp, type TestResponse, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const RESERVE = 1_000_000_000;
const project_id = "acme/app";
const upstream = await startReferenceUpstream();

/** The free space that the store reports. */
let free = 2 * RESERVE;
const onDisk = (engine: Engine): Engine => ({
  ...engine,
  rows: async <Row>(query: Parameters<Engine["rows"]>[0], options: Parameters<Engine["rows"]>[1]) =>
    options.name === "disk_space"
      ? ([3 * RESERVE, free].map((bytes) => ({ free: bytes, total: 10 * RESERVE })) as Row[])
      : engine.rows<Row>(query, options),
  insert: async (table, rows, options) => {
    if (failing === options.name) throw new StorageError("unavailable", options.name, undefined, "");
    return engine.insert(table, rows, options);
  },
});
let failing: string | undefined;

let test: TestApp;
const start = async (settings: Record<string, string>, wrapEngine = onDisk): Promise<void> => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  test = await startApp({
    settings: { TRAINING_UPSTREAM_URL: upstream.url, ...settings },
    deps: { steady: { now: () => steadyMs } },
    wrapEngine,
  });
  await test.app.listen({ host: "127.0.0.1", port: 0 });
};
afterEach(async () => {
  vi.useRealTimers();
  await test.close();
});
afterAll(() => upstream.close());
let steadyMs = 0;
const readSpace = async (): Promise<void> => {
  steadyMs += 60_000;
  await vi.advanceTimersByTimeAsync(1000);
};

let last = 0;
const startOf = () => ({
  project_id,
  id: `c${++last}`,
  trace_id: "t",
  op_name: "o",
  started_at: "2026-01-01T00:00:00Z",
});
const send = async (method: "GET" | "PUT" | "DELETE", url: string, payload?: object): Promise<number> => {
  const body = payload === undefined ? {} : { payload };
  const headers = { authorization: authorization() };
  return (await test.app.inject({ method, url, headers, ...body })).statusCode;
};
const feedback = {
  project_id,
  weave_ref: `weave:///${project_id}/call/c1`,
  feedback_type: "f",
  payload: { n: 1 },
};

const call = (key?: string): Promise<TestResponse> =>
  test.post("/call/start", { start: startOf() }, key === undefined ? {} : { key });
const ingest: Readonly<Record<string, () => Promise<TestResponse>>> = {
  call: () => call(),
  batch: () => test.post("/call/upsert_batch", { batch: [{ mode: "start", req: { start: startOf() } }] }),
  rename: () => test.post("/call/update", { project_id, call_id: "c1", display_name: "n" }),
  feedback: () => test.post("/feedback/create", feedback),
  object: () => test.post("/obj/create", { obj: { project_id, object_id: "o", val: { n: ++last } } }),
  table: () => test.post("/table/create", { table: { project_id, rows: [{ n: ++last }] } }),
};
const statuses = async (): Promise<readonly number[]> => {
  const all = [];
  for (const ask of Object.values(ingest)) all.push((await ask()).status);
  return all;
};

/** Relays a completion, which is never rejected for want of space. */
async function complete(): Promise<void> {
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
  expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
}
const completions = async (): Promise<number> => {
  const query = {
    $expr: { $eq: [{ $getField: "op_name" }, { $literal: "openai.chat.completions.create" }] },
  };
  return (await test.post("/calls/query_stats", { project_id, query })).json().count as number;
};

/** Requests that free space, revoke or read, which a full disk must not stop. */
async function operate(feedbackId: string): Promise<void> {
  const made = await test.post("/api-keys", { name: "k", projects: [project_id], scopes: ["ingest"] });
  const { id, key } = made.json() as { id: string; key: string };
  expect((await call(key)).status).toBe(free < RESERVE ? 507 : 200);
  expect(await send("DELETE", `/api-keys/${id}`)).toBe(204);
  expect((await call(key)).status).toBe(401);
  expect((await test.post("/calls/delete", { project_id, call_ids: ["c1"] })).status).toBe(200);
  const query = { $expr: { $eq: [{ $getField: "id" }, { $literal: feedbackId }] } };
  expect((await test.post("/feedback/purge", { project_id, query })).status).toBe(200);
  expect(await send("PUT", `/projects/${project_id}/retention`, { days: 30_000 })).toBe(200);
  expect(await send("DELETE", "/projects/acme/other")).toBe(202);
  expect(await send("GET", "/audit")).toBe(200);
  expect((await test.post("/trace/usage", { project_id })).status).toBe(200);
}

const readiness = async (url = "/readyz/writes") => {
  const answer = await test.app.inject(url);
  return [answer.statusCode, answer.json().detail];
};
const NOT_READY = [503, "The store cannot be written to: its disk is almost full."];

describe("a disk that becomes full", () => {
  it("takes what frees space and no ingest; completions wait in the journal; and it can be used again", async () => {
    await start({ MIN_FREE_DISK_BYTES: String(RESERVE) });
    await readSpace();
    expect(new Set(await statuses())).toEqual(new Set([200]));
    const ids = [];
    for (const _ of [1, 2, 3]) ids.push((await ingest["feedback"]!()).json().id as string);
    await operate(ids[0]!);
    await complete();
    await until(async () => (await completions()) === 1);

    for (const [at, part] of [0.9, 0.1].entries()) {
      free = part * RESERVE;
      await readSpace();
      expect(new Set(await statuses())).toEqual(new Set([507]));
      expect((await call()).json().detail).toContain("disk is almost full");
      await complete();
      await operate(ids[at + 1]!);
      expect(await completions()).toBe(1);
      for (const url of ["/readyz", "/readyz/writes"]) expect(await readiness(url)).toEqual(NOT_READY);
      expect((await readiness("/readyz/reads"))[0]).toBe(200);
    }

    free = 2 * RESERVE;
    await readSpace();
    expect(new Set(await statuses())).toEqual(new Set([200]));
    expect(await readiness()).toEqual([200, undefined]);
    await until(async () => (await completions()) === 3);
  });

  it("refuses a key whose revocation it cannot store", async () => {
    free = 2 * RESERVE;
    await start({});
    const made = await test.post("/api-keys", { name: "k", projects: [project_id], scopes: ["ingest"] });
    const { id, key } = made.json() as { id: string; key: string };
    expect((await call(key)).status).toBe(200);
    failing = "api_key_revoke";
    expect(await send("DELETE", `/api-keys/${id}`)).toBe(503);
    expect((await call(key)).status).toBe(401);
    failing = undefined;
    expect(await send("DELETE", `/api-keys/${id}`)).toBe(204);
  });
});

it("MIN_FREE_DISK_BYTES applies to the disk of the store, also while a migration replaces its tables", async () => {
  await start({ MIN_FREE_DISK_BYTES: String(2 ** 52) }, (engine) => engine);
  await readSpace();
  await until(async () => (await call()).status === 507);
  if (hasExternalStore) return;
  const rename = { name: "test_rename" };
  await test.engine.command(sql`RENAME TABLE calls TO calls_away`, rename);
  await readSpace();
  expect(await readiness()).toEqual(NOT_READY);
  await test.engine.command(sql`RENAME TABLE calls_away TO calls`, rename);
});
