import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Session } from "chdb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectServer } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { startHttpFront, type HttpFront } from "../helpers/clickhouse-http-front.ts";
import { askVector, storeVectors, vectors } from "../helpers/feedback-vectors.ts";
import { startAppOn, type TestApp } from "../helpers/start-app.ts";

const dir = mkdtempSync(join(tmpdir(), "sumtree-engine-"));
const keeper = new Session(dir);
let front: HttpFront;
let engine: Engine;
let test: Omit<TestApp, "engine">;

beforeAll(async () => {
  front = await startHttpFront(dir);
  engine = connectServer(front.url);
  await migrate(engine, { cluster: undefined });
  test = await startAppOn(engine);
  await storeVectors(test);
});
afterAll(async () => {
  await test.close();
  await engine.close();
  await front.close();
  keeper.close();
  rmSync(dir, { recursive: true, force: true });
});

describe("feedback over a server's HTTP interface", () => {
  it.each(vectors.cases.map((vector) => [vector.name, vector] as const))("%s", (_name, vector) =>
    askVector(test, vector),
  );

  it("answers with as many buckets, and for as many numbers, as there can be", async () => {
    const request = {
      project_id: "acme/assist",
      start: "2024-01-01T05:00:00Z",
      timezone: "America/New_York",
    };
    const days = {
      ...request,
      end: "2051-05-19T04:00:00Z",
      granularity: 86_400,
      metrics: [{ json_path: "x" }],
    };
    const buckets = await test.post("/feedback/stats", days);
    expect([buckets.status, buckets.json().buckets.length]).toEqual([200, 10_000]);
    const percentiles = Array.from({ length: 50 }, (_, index) => index * 2);
    const metrics = Array.from({ length: 100 }, (_, index) => ({
      json_path: Array.from({ length: 32 }, () => "é".repeat(30)).join(".") + String(index),
      percentiles,
    }));
    const day = { ...request, end: "2024-01-02T05:00:00Z", granularity: 86_400, metrics };
    const numbers = await test.post("/feedback/stats", day);
    expect([numbers.status, Object.keys(numbers.json().window_stats).length]).toEqual([200, 100]);
  });

  it("lists, corrects and purges", async () => {
    const body = {
      project_id: "acme/http",
      id: "one",
      weave_ref: "w",
      feedback_type: "it's",
      payload: { a: "\\'\n" },
    };
    for (const n of [1, 2]) await test.post("/feedback/create", { ...body, payload: { ...body.payload, n } });
    const query = { $expr: { $eq: [{ $getField: "payload.a" }, { $literal: "\\'\n" }] } };
    const listed = await test.post("/feedback/query", {
      project_id: "acme/http",
      fields: ["payload"],
      query,
    });
    expect(listed.json()).toEqual({ result: [{ payload: { a: "\\'\n", n: 2 } }] });
    const $expr = { $in: [{ $getField: "id" }, [{ $literal: "one" }]] };
    await test.post("/feedback/purge", { project_id: "acme/http", query: { $expr } });
    expect((await test.post("/feedback/query", { project_id: "acme/http" })).json()).toEqual({ result: [] });
  });
});
