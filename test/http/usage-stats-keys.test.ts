import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeRequest, spanInit } from "../helpers/otlp-request.ts";
import { nothingLeft } from "../helpers/recorded-calls.ts";
import { startGateway, type TestGateway } from "../helpers/start-gateway.ts";

const project_id = "acme/keys";
const AT = "2026-01-02T10:00:00Z";
const WINDOW = { start: "2026-01-01T00:00:00Z", end: "2028-01-01T00:00:00Z" };

interface Key {
  readonly id: string;
  readonly key: string;
}

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway();
});
afterAll(() => test.close());

async function newKey(name: string): Promise<Key> {
  const response = await test.post("/api-keys", { name, scopes: ["ingest", "train"], projects: ["acme/*"] });
  expect(response.status, response.text).toBe(201);
  return response.json() as Key;
}

const start = (id: string, more: object = {}) => ({
  project_id,
  id,
  trace_id: `trace-${id}`,
  op_name: "op",
  started_at: AT,
  inputs: {},
  attributes: {},
  ...more,
});

async function callsByKey(more: object = {}): Promise<ReadonlyMap<string | null, number>> {
  const response = await test.post("/usage/stats", { project_id, ...WINDOW, group_by: ["api_key"], ...more });
  expect(response.status, response.text).toBe(200);
  const groups = response.json().groups as { key: { api_key: string | null }; total: { calls: number } }[];
  return new Map(groups.map(({ key, total }) => [key.api_key, total.calls]));
}

/** Every way in, with one call each. */
const WAYS: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
  "a start": (key) => test.post("/call/start", { start: start("a") }, { key }),
  "a start under a path": (key) => test.post(`/v2/${project_id}/call/start`, { start: start("b") }, { key }),
  "a batch": (key) =>
    test.post("/call/upsert_batch", { batch: [{ mode: "start", req: { start: start("c") } }] }, { key }),
  "whole calls": (key) =>
    test.post(
      `/v2/${project_id}/calls/complete`,
      { batch: [start("d", { ended_at: AT, output: null, summary: {} })] },
      { key },
    ),
  spans: (key) =>
    test.app.inject({
      method: "POST",
      url: "/otel/v1/traces",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/x-protobuf",
        project_id,
      },
      payload: encodeRequest({ spans: [spanInit(1)], resource: {} }),
    }),
  "a completion": (key) =>
    fetch(`${test.baseUrl}/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "x-sumtree-project": project_id,
      },
      body: JSON.stringify({ model: "forest-1", messages: [{ role: "user", content: "Who asks?" }] }),
    }),
};

describe("the group api_key", () => {
  it("is the key that a call was sent with, in any way", async () => {
    const keys = new Map<string, string>();
    for (const [way, send] of Object.entries(WAYS)) {
      const { id, key } = await newKey(way);
      await send(key);
      keys.set(id, way);
    }
    await nothingLeft(test);
    const counts = await callsByKey();
    expect([...keys].filter(([id]) => counts.get(id) !== 1)).toEqual([]);
  });

  it("stays the key of the start, for any key of the end, renames and deletions", async () => {
    const { id, key } = await newKey("starts");
    for (const name of ["kept", "gone"]) await test.post("/call/start", { start: start(name) }, { key });
    const end = { project_id, id: "kept", ended_at: AT, summary: { usage: {} } };
    await test.post("/call/end", { end });
    await test.post("/call/update", { project_id, call_id: "kept", display_name: "renamed" });
    expect((await callsByKey()).get(id)).toBe(2);
    await test.post("/calls/delete", { project_id, call_ids: ["gone"] });
    expect((await callsByKey()).get(id)).toBe(1);
  });

  it("stays the key of the start for an end that arrived first", async () => {
    const { id, key } = await newKey("late start");
    await test.post("/call/end", { end: { project_id, id: "waits", ended_at: AT, summary: {} } });
    await test.post("/call/start", { start: start("waits") }, { key });
    expect((await callsByKey()).get(id)).toBe(1);
  });

  it("can be combined with other groups, and is the root key's for the root key", async () => {
    await test.post("/call/start", { start: start("rooted", { op_name: "rooted" }) });
    const query = { $expr: { $eq: [{ $getField: "op_name" }, { $literal: "rooted" }] } };
    const group_by = ["op_name", "api_key", "llm"];
    const { groups } = (await test.post("/usage/stats", { project_id, ...WINDOW, group_by, query })).json();
    expect(groups).toMatchObject([
      { key: { op_name: "rooted", api_key: "root", llm: null }, total: { calls: 1 } },
    ]);
  });
});
