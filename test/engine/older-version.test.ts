import { Writable } from "node:stream";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { trusted } from "../../src/query/sql.ts";
import { completeCall } from "../helpers/cluster-load.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

const project_id = "acme/app";
const MINUTE_MS = 60_000;
const LATER = "0001_of_a_newer_version.sql";
const REFUSAL = "Store read-only: a newer version has migrated it. Upgrade this service.";

let nowMs: number;
let logged: string[];
let test: TestApp;
beforeEach(async () => {
  nowMs = Date.UTC(2026, 0, 2);
  logged = [];
  const stream = new Writable({
    write(line, _encoding, done) {
      logged.push(String(line));
      done();
    },
  });
  const clock = { now: () => nowMs };
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  test = await startApp({ deps: { clock, steady: clock, logger: pino(stream) } });
  expect((await test.post("/call/start", { start: { ...started, id: "known" } })).status).toBe(200);
});
afterEach(async () => {
  await test.close();
  vi.useRealTimers();
});

const started = { project_id, op_name: "op", trace_id: "t", started_at: "2026-01-01T00:00:00Z" };
const ended_at = "2026-01-01T00:00:02Z";
const weave_ref = `weave:///${project_id}/call/known`;
const writes: readonly (readonly [string, object])[] = [
  ["/call/start", { start: { ...started, id: "new" } }],
  ["/call/end", { end: { project_id, id: "known", ended_at, summary: {} } }],
  ["/call/end", { end: { project_id, id: "unknown", ended_at, summary: {} } }],
  ["/call/update", { project_id, call_id: "known", display_name: "renamed" }],
  [`/v2/${project_id}/calls/complete`, { batch: [completeCall(project_id, "whole", "trace")] }],
  ["/calls/delete", { project_id, call_ids: ["known"] }],
  ["/feedback/create", { project_id, weave_ref, feedback_type: "custom", payload: { note: "good" } }],
  ["/cost/create", { project_id, costs: { "gpt-4o": { prompt_token_cost: 1, completion_token_cost: 1 } } }],
  ["/obj/create", { obj: { project_id, object_id: "prompt", val: { text: "hello" } } }],
  ["/table/create", { table: { project_id, rows: [{ id: "row" }] } }],
];

/** Records the migration of a newer version, as that version does when it starts. */
function migrateToNewer(): Promise<void> {
  const row = { name: LATER, checksum: "x" };
  return test.engine.insert("schema_migrations", [row], { name: "test", tables: "per_shard" });
}

async function contents(): Promise<unknown> {
  const tables = await test.engine.rows<{ name: string }>(
    trusted("SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name"),
    { name: "test" },
  );
  const counts = tables.map(({ name }) => `SELECT '${name}' AS name, count() AS n FROM ${name}`);
  return test.engine.rows(trusted(`SELECT * FROM (${counts.join(" UNION ALL ")}) ORDER BY name`), {
    name: "test",
  });
}

const statusOfWrite = async (): Promise<number> =>
  (await test.post("/call/update", { project_id, call_id: "known", display_name: "name" })).status;

describe("a running service whose store a newer version migrates", () => {
  it("writes nothing after a pause, on any route, reports why, and serves reads", async () => {
    await migrateToNewer();
    nowMs += 3 * MINUTE_MS;
    const before = await contents();
    for (const [path, body] of writes) {
      const { status, text } = await test.post(path, body);
      expect([path, status, text]).toEqual([path, 503, JSON.stringify({ detail: REFUSAL })]);
    }
    const erasing = await test.app.inject({
      method: "DELETE",
      url: `/projects/${project_id}`,
      headers: { authorization: authorization() },
    });
    expect(erasing.statusCode).toBe(503);
    expect(await contents()).toEqual(before);
    const usage = await test.post("/trace/usage", { project_id });
    expect([usage.status, Object.keys(usage.json().call_usage as object)]).toEqual([200, ["known"]]);
  });

  it("continues to write until the comparison of the next minute, and then stops", async () => {
    await migrateToNewer();
    expect(await statusOfWrite()).toBe(200);
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    await expect.poll(statusOfWrite).toBe(503);
  });

  it("is not ready to write, which is logged once", async () => {
    expect((await test.app.inject("/readyz")).statusCode).toBe(200);
    await migrateToNewer();
    for (let turn = 0; turn < 3; turn++) {
      nowMs += 2000;
      const ready = await test.app.inject("/readyz");
      expect([ready.statusCode, ready.json()]).toEqual([
        503,
        {
          status: "not ready",
          reads: "ok",
          writes: "not ready",
          detail: "The store cannot be written to: a newer version of the service has opened the store.",
        },
      ]);
      expect(await statusOfWrite()).toBe(503);
    }
    expect((await test.app.inject("/readyz/reads")).statusCode).toBe(200);
    expect((await test.app.inject("/readyz/writes")).statusCode).toBe(503);
    expect(logged.filter((line) => line.includes(LATER))).toHaveLength(1);
  });
});
