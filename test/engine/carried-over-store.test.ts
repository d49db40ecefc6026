import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEmbedded } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { sql } from "../../src/query/sql.ts";
import { startAppOn, type TestApp } from "../helpers/start-app.ts";

const FIXTURE = join(import.meta.dirname, "../fixtures/stores/by-trace");

interface Answered {
  readonly path: string;
  readonly body: object;
  readonly answer: string;
}

const answered = JSON.parse(
  gunzipSync(readFileSync(join(FIXTURE, "answers.json.gz"))).toString(),
) as readonly Answered[];

let dir: string;
let engine: Engine;
let test: TestApp;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "sumtree-carried-over-"));
  execFileSync("tar", ["-xzf", join(FIXTURE, "store.tgz"), "-C", dir]);
  engine = await openEmbedded(dir);
  await migrate(engine, { cluster: undefined });
  test = await startAppOn(engine);
}, 120_000);
afterAll(async () => {
  await test.close();
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Of NDJSON its lines, in order. */
function valueOf(path: string, text: string): unknown {
  if (path !== "/calls/stream_query") return JSON.parse(text);
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
}

describe("a store in the order of traces, made by the version before", () => {
  it.each(
    answered.map((one, index) => [index, one.path, JSON.stringify(one.body).slice(0, 120), one] as const),
  )("answers as before: %i %s %s", async (_index, path, _text, { body, answer }) => {
    const now = await test.post(path, body);
    expect(now.status).toBe(200);
    expect(valueOf(path, now.text)).toEqual(valueOf(path, answer));
  });

  it("has nothing left of the old tables", async () => {
    const rows = await engine.rows<{ name: string }>(
      sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE 'call%' ORDER BY name`,
      { name: "test" },
    );
    expect(rows.map((row) => row.name)).toEqual(["call_hours", "call_traces", "calls"]);
  });

  it("takes what comes late for its calls: an end that waited, an end of an open call, a delete", async () => {
    const project_id = "acme/kept";
    const start = {
      project_id,
      id: "later",
      trace_id: "t-later",
      op_name: "o",
      started_at: "2026-01-01T00:00:00Z",
    };
    await test.post("/call/start", { start });
    const read = await test.post("/call/read", { project_id, id: "later" });
    expect(read.json().call).toMatchObject({ output: "waits", ended_at: "2026-01-02T00:00:00.000000Z" });

    const end = { project_id, id: "c-0-2", ended_at: "2026-06-01T00:00:00Z", output: "late", summary: {} };
    await test.post("/call/end", { end });
    const ended = await test.post("/call/read", { project_id, id: "c-0-2" });
    expect(ended.json().call).toMatchObject({ output: "late", inputs: { n: 2 } });
    expect((await test.post("/calls/delete", { project_id, call_ids: ["c-0-0"] })).json().num_deleted).toBe(
      6,
    );
  });
});
