import { afterAll, beforeAll, expect, it } from "vitest";
import { authorization, startApp, type TestResponse, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const at = "2026-01-01T00:00:00Z";
const LIMIT = 4_000_000;

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ settings: { MAX_STORED_BYTES: String(LIMIT) } });
  await test.app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => test.close());

let last = 0;
function start(project_id: string, bytes = 10) {
  const id = `c${++last}`;
  const inputs = { text: "z".repeat(bytes) };
  return { project_id, id, trace_id: "t", op_name: "o", started_at: at, attributes: {}, inputs };
}

const call = (project: string, bytes?: number): Promise<TestResponse> =>
  test.post("/call/start", { start: start(project, bytes) });

const feedback = (project_id: string) => ({
  project_id,
  weave_ref: `weave:///${project_id}/call/c`,
  feedback_type: "f",
  payload: { n: 1 },
});

/** Whatever stores something, and whatever must always be possible. */
const stores: Readonly<Record<string, (project: string) => Promise<TestResponse>>> = {
  start: (project) => call(project),
  end: (project_id) =>
    test.post("/call/end", { end: { project_id, id: "unknown", ended_at: at, summary: {} } }),
  batch: (project) =>
    test.post("/call/upsert_batch", { batch: [{ mode: "start", req: { start: start(project) } }] }),
  "large batch": (project) =>
    test.post("/call/upsert_batch", {
      batch: Array.from({ length: 6 }, () => ({ mode: "start", req: { start: start(project, 1_000_000) } })),
    }),
  feedback: (project) => test.post("/feedback/create", feedback(project)),
  object: (project_id) =>
    test.post("/obj/create", { obj: { project_id, object_id: "o", val: { n: ++last } } }),
  table: (project_id) => test.post("/table/create", { table: { project_id, rows: [{ n: ++last }] } }),
};

it(
  "a project at its storage limit is rejected, others are not, until it has deleted data",
  { timeout: 120_000 },
  async () => {
    const [full, other] = ["acme/full", "other/one"];
    const purged = (await test.post("/feedback/create", feedback(full))).json().id as string;
    expect((await call(full, LIMIT)).status).toBe(200);
    await until(async () => (await call(full)).status === 507);

    const rejected = await Promise.all(
      Object.entries(stores).map(async ([name, store]) => [name, (await store(full)).status]),
    );
    expect(Object.fromEntries(rejected)).toEqual(
      Object.fromEntries(Object.keys(stores).map((name) => [name, 507])),
    );
    expect((await call(full)).json().detail).toContain("stores as much as it may");
    // the total is above the limit here, and nobody may add to it
    expect((await call(other)).status).toBe(507);
    expect((await test.post("/trace/usage", { project_id: full })).status).toBe(200);
    expect(
      (
        await test.post("/feedback/purge", {
          project_id: full,
          query: { $expr: { $eq: [{ $getField: "id" }, { $literal: purged }] } },
        })
      ).status,
    ).toBe(200);
    expect((await test.post("/calls/delete", { project_id: full, call_ids: ["c1"] })).status).toBe(200);

    const deleted = await test.app.inject({
      method: "DELETE",
      url: `/projects/${full}`,
      headers: { authorization: authorization() },
    });
    expect(deleted.statusCode).toBe(202);
    await until(async () => (await call(other)).status === 200);

    // of what the other leaves, five sixths, for all projects of an entity together
    expect((await call(other, LIMIT * 0.1)).status).toBe(200);
    expect((await call(full, LIMIT * 0.4)).status).toBe(200);
    expect((await call("acme/more", LIMIT * 0.4)).status).toBe(200);
    await until(async () => (await call("acme/yet-another")).status === 507);
    expect((await call(other)).status).toBe(200);
  },
);
