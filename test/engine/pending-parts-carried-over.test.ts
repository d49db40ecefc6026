import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEmbedded } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { sql } from "../../src/query/sql.ts";
import { startAppOn, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const project_id = "acme/old";
const REF = "weave:///acme/old/object/out:1";

let dir: string;
let engine: Engine;
let test: TestApp;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "sumtree-pending-"));
  engine = await openEmbedded(dir);
  await migrateUntil("migrate_0011");
  await engine.insert("calls", storedCalls, { name: "test_fill" });
  await engine.insert("parked_parts", pendingParts, { name: "test_fill" });
  await migrate(engine, { cluster: undefined, carry: { callsPerSlice: 1 } });
  test = await startAppOn(engine);
  // what was left behind is looked for as soon as the service listens
  await test.app.listen({ host: "127.0.0.1", port: 0 });
}, 120_000);
afterAll(async () => {
  await test.close();
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
});

class Cut extends Error {}

/** All migrations before a statement of this name. */
async function migrateUntil(name: string): Promise<void> {
  const before: Engine = {
    ...engine,
    command: async (statement, options) => {
      if (options.name === name) throw new Cut();
      await engine.command(statement, options);
    },
  };
  await expect(migrate(before, { cluster: undefined })).rejects.toThrow(Cut);
}

/** What the version before stored of a pending end: all columns every time, '' for what it did not say. */
function oldEnd(output: string, more: object = {}): object {
  return {
    ended_at: "2026-01-01 00:01:00.000000",
    end_display_name: "",
    output: JSON.stringify(output),
    summary: JSON.stringify({ usage: { m: { requests: 1, prompt_tokens: 7 } } }),
    exception: "",
    usage: '[["m",1,7,0,7,0,0,0]]',
    completion_id: "",
    reported_by: 0,
    output_refs: output === REF ? [REF] : [],
    ...more,
  };
}

function pending(id: string, kind: string, columns: object, more: object = {}): object {
  const text = JSON.stringify(columns);
  const columns_hash = createHash("sha256").update(text).digest("hex");
  return { project_id, id, kind, columns_hash, columns: text, resolved: 0, ...more };
}

const earlier = { parked_at: "2026-01-01 00:00:00.000" };
const later = { parked_at: "2026-01-01 00:00:00.001" };
const pendingParts = [
  pending("ended", "end", oldEnd(REF)),
  pending("named", "end", oldEnd("out", { end_display_name: "by its end" })),
  pending("twice", "end", oldEnd("second"), later),
  pending("twice", "end", oldEnd("first"), earlier),
  pending("outdone", "end", oldEnd("old")),
  pending("renamed", "rename", { renamed_to: "by its rename" }),
  pending("renamed", "end", oldEnd("out")),
  pending("gone", "delete", { deleted_at: "2026-01-01 00:00:00.000000" }),
  pending("forgotten", "end", oldEnd("left behind")),
  // of a part that was written to its call nothing but the mark was kept
  { ...pending("written", "end", oldEnd("written")), columns: "{}", resolved: 1 },
];

function storedStart(id: string): object {
  const started_at = "2026-01-01 00:00:00.000000";
  const start_display_name = `${id} by its start`;
  return { project_id, trace_id: "t", id, op_name: "op", started_at, start_display_name, inputs: "{}" };
}
const storedCalls = [
  storedStart("forgotten"),
  storedStart("written"),
  { project_id, trace_id: "t", id: "written", ...oldEnd("written") },
];

async function post(url: string, body: object) {
  const answer = await test.post(url, body);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.json();
}

async function start(id: string) {
  const started = { project_id, id, trace_id: "t", op_name: "op", started_at: "2026-01-01T00:00:00Z" };
  await post("/call/start", { start: { ...started, display_name: `${id} by its start` } });
  return read(id);
}

const end = (id: string, output: string) =>
  post("/call/end", { end: { project_id, id, ended_at: "2026-01-01T00:02:00Z", output } });
const read = async (id: string) => (await post("/call/read", { project_id, id })).call;

describe("pending parts of the version before", () => {
  it("end their call when it starts, and leave it the name that it has", async () => {
    expect(await start("ended")).toMatchObject({
      display_name: "ended by its start",
      output: REF,
      ended_at: "2026-01-01T00:01:00.000000Z",
      summary: { usage: { m: { prompt_tokens: 7 } } },
    });
    const found = await test.post("/calls/stream_query", { project_id, filter: { output_refs: [REF] } });
    expect(found.text).toContain('"id":"ended"');
    const { call_usage } = await post("/calls/usage", { project_id, call_ids: ["ended"] });
    expect(call_usage.ended.m.prompt_tokens).toBe(7);
  });

  it("name it, when they did: an end, a rename", async () => {
    expect(await start("named")).toMatchObject({ display_name: "by its end" });
    expect(await start("renamed")).toMatchObject({ display_name: "by its rename", output: "out" });
  });

  it("hold in their order, and before what comes now", async () => {
    expect(await start("twice")).toMatchObject({ output: "second" });
    await end("outdone", "new");
    expect(await start("outdone")).toMatchObject({ output: "new" });
  });

  it("keep a call deleted", async () => {
    expect(await start("gone")).toBeNull();
  });

  it("are written when their call is there already", async () => {
    await until(async () => (await read("forgotten")).output === "left behind");
    expect(await read("forgotten")).toMatchObject({ display_name: "forgotten by its start" });
  });

  it("are not written again when they have been, and what comes later holds", async () => {
    expect(await read("written")).toMatchObject({ output: "written", display_name: "written by its start" });
    await end("written", "new");
    expect(await read("written")).toMatchObject({ output: "new", display_name: "written by its start" });
  });

  it("are all written in the end", async () => {
    const rows = await engine.rows<{ id: string }>(
      sql`SELECT DISTINCT id FROM parked_parts FINAL WHERE resolved = 0`,
      { name: "test" },
    );
    expect(rows).toEqual([]);
  });
});
