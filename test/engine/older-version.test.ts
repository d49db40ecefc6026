import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Session } from "chdb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { trusted } from "../../src/query/sql.ts";
import { connectServer } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { startHttpFront, type HttpFront } from "../helpers/clickhouse-http-front.ts";
import { completeCall } from "../helpers/cluster-load.ts";
import { LATER, LATER_VERSION } from "../helpers/later-migration.ts";
import { authorization, startAppOn, type TestApp } from "../helpers/start-app.ts";
import { openLink, type StatementLink } from "../helpers/statement-link.ts";

const dir = mkdtempSync(join(tmpdir(), "sumtree-older-"));
const keeper = new Session(dir);
const project_id = "acme/app";
const changes: unknown[] = [];
let front: HttpFront;
let link: StatementLink;
let older: { engine: Engine; app: TestApp };
let newer: { engine: Engine; app: TestApp };

beforeAll(async () => {
  front = await startHttpFront(dir);
  link = await openLink(front.url);
  const engine = connectServer(link.url, { onChange: (change) => changes.push(change) });
  await migrate(engine, { cluster: undefined, later: [] });
  older = { engine, app: await startAppOn(engine) };
  const next = connectServer(front.url, { storeVersion: LATER_VERSION });
  newer = { engine: next, app: await startAppOn(next) };
});
afterAll(async () => {
  for (const { app, engine } of [older, newer]) {
    await app.close();
    await engine.close();
  }
  await link.close();
  await front.close();
  keeper.close();
  rmSync(dir, { recursive: true, force: true });
});

const started = { project_id, op_name: "op", trace_id: "t", started_at: "2026-01-01T00:00:00Z" };
const writes = (id: string): readonly (readonly [string, object])[] => [
  ["/call/start", { start: { ...started, id } }],
  ["/call/end", { end: { project_id, id: "known", ended_at: "2026-01-01T00:00:02Z", summary: {} } }],
  ["/call/end", { end: { project_id, id: `unknown ${id}`, ended_at: "2026-01-01T00:00:02Z", summary: {} } }],
  ["/call/update", { project_id, call_id: "known", display_name: id }],
  [`/v2/${project_id}/calls/complete`, { batch: [completeCall(project_id, `whole ${id}`, `trace ${id}`)] }],
  ["/calls/delete", { project_id, call_ids: ["known"] }],
  [
    "/feedback/create",
    {
      project_id,
      weave_ref: `weave:///${project_id}/call/known`,
      feedback_type: "custom",
      payload: { note: id },
    },
  ],
  ["/cost/create", { project_id, costs: { "gpt-4o": { prompt_token_cost: 1, completion_token_cost: 1 } } }],
  ["/obj/create", { obj: { project_id, object_id: "prompt", val: { text: id } } }],
  ["/table/create", { table: { project_id, rows: [{ id }] } }],
];

const contents = async (): Promise<unknown> => {
  const tables = await newer.engine.rows<{ name: string }>(
    trusted("SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name"),
    { name: "test" },
  );
  const counts = tables.map(({ name }) => `SELECT '${name}' AS name, count() AS n FROM ${name}`);
  return newer.engine.rows(trusted(`SELECT * FROM (${counts.join(" UNION ALL ")}) ORDER BY name`), {
    name: "test",
  });
};

describe("a service that runs on while a newer version opens its store", () => {
  it("writes before", async () => {
    const begin = await older.app.post("/call/start", { start: { ...started, id: "known" } });
    expect(begin.status).toBe(200);
  });

  it("writes nothing any more, by no route, and says why; the newer one writes all of it", async () => {
    link.rule = ({ name }) => (name === "held" ? "hold" : "pass");
    const row = { project_id, hour: 1, trace_id: "held", id: "held" };
    const left = new AbortController();
    const held = older.engine.insert("calls", [row], { name: "held", signal: left.signal });
    const leaving = expect(held).rejects.toMatchObject({ kind: "aborted" });
    await expect.poll(() => link.held.length).toBe(1);
    left.abort();
    await leaving;

    expect(await migrate(newer.engine, { cluster: undefined, later: [LATER] })).toEqual([LATER.name]);
    const before = await contents();
    for (const [path, body] of writes("of the older")) {
      const { status, text } = await older.app.post(path, body);
      expect([path, status, text]).toEqual([
        path,
        503,
        expect.stringContaining("A newer version of the service has opened the store"),
      ]);
    }
    const erasing = await older.app.app.inject({
      method: "DELETE",
      url: `/projects/${project_id}`,
      headers: { authorization: authorization() },
    });
    expect(erasing.statusCode).toBe(503);
    // what was on its way comes late
    expect((await link.held[0]!.deliver()).text).toContain("469");
    expect(await contents()).toEqual(before);
    for (const [path, body] of writes("of the newer"))
      expect((await newer.app.post(path, body)).status).toBe(200);
  });

  it("can read, is not ready to write, and says so once", async () => {
    const usage = await older.app.post("/trace/usage", { project_id });
    expect([usage.status, Object.keys(usage.json().call_usage as object)]).toEqual([
      200,
      ["of the newer", "whole of the newer"],
    ]);
    for (let turn = 0; turn < 3; turn++) {
      const ready = await older.app.app.inject("/readyz");
      expect([ready.statusCode, ready.json()]).toEqual([
        503,
        {
          status: "not ready",
          reads: "ok",
          writes: "not ready",
          detail: "The store cannot be written to: a newer version of the service has opened the store.",
        },
      ]);
    }
    expect((await older.app.app.inject("/readyz/reads")).statusCode).toBe(200);
    expect((await newer.app.app.inject("/readyz")).statusCode).toBe(200);
    expect(changes).toEqual([
      {
        replica: new URL(link.url).host,
        reads: undefined,
        writes: "a newer version of the service has opened the store",
      },
    ]);
  });

  it("cannot start again", async () => {
    await expect(migrate(older.engine, { cluster: undefined, later: [] })).rejects.toThrow(
      /which this version does not know: start the newer version/,
    );
  });
});
