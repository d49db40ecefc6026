import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Session } from "chdb";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectServer } from "../../src/store/connect.ts";
import type { Engine } from "../../src/store/engine.ts";
import { param, sql } from "../../src/query/sql.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { startFakeServer, type FakeServer } from "../helpers/fake-clickhouse-server.ts";
import { isLong } from "../helpers/runs.ts";
import { startAppOn, type TestApp } from "../helpers/start-app.ts";
import { ABORTED_STATEMENTS, describeEngine, testLimits } from "./conformance.ts";

const dir = mkdtempSync(join(tmpdir(), "sumtree-engine-"));
const keeper = new Session(dir);
let front: FakeServer;

beforeAll(async () => {
  front = await startFakeServer(dir);
});
afterAll(async () => {
  await front.close();
  keeper.close();
  rmSync(dir, { recursive: true, force: true });
});

describeEngine("a server over HTTP (front of the embedded engine)", async () => {
  const engine = connectServer(front.url, { limits: testLimits });
  return {
    engine,
    async close() {
      expect(front.longestUrl()).toBeLessThan(2000);
      expect(front.cancelledCount()).toBe(ABORTED_STATEMENTS);
      await engine.close();
    },
  };
});

describe.runIf(isLong)("the largest queries that the service accepts", () => {
  let test: Omit<TestApp, "engine">;
  let engine: Engine;
  beforeAll(async () => {
    engine = connectServer(front.url);
    await migrate(engine, { cluster: undefined });
    test = await startAppOn(engine, { settings: { BODY_LIMIT_BYTES: String(16 * 1024 * 1024) } });
  });
  afterAll(async () => {
    await test.close();
    await engine.close();
  });
  const project_id = "acme/large";

  it("ten lists of 10,000 ids each succeed", async () => {
    const lists = ["op_names", "input_refs", "output_refs", "parent_ids", "trace_ids"];
    const more = ["call_ids", "thread_ids", "turn_ids", "svc_user_ids", "svc_run_ids"];
    const filter = Object.fromEntries(
      [...lists, ...more].map((name) => [
        name,
        Array.from({ length: 10_000 }, (_, n) => `${name}-${n}-${"0123456789".repeat(4)}`),
      ]),
    );
    const response = await test.post("/trace/usage", { project_id, filter });
    expect([response.status, response.text]).toEqual([200, '{"call_usage":{},"unfinished_call_ids":[]}']);
  });

  it("a query of a thousand nodes, each with its own path and value, succeeds", async () => {
    const conditions = Array.from({ length: 330 }, (_, n) => ({
      $eq: [{ $getField: `inputs.some.deep.path_${n}.to.a.value` }, { $literal: `value '${n}' \\` }],
    }));
    const $expr = { $and: [{ $or: conditions.slice(0, 165) }, ...conditions.slice(165)] };
    const response = await test.post("/trace/usage", { project_id, query: { $expr } });
    expect([response.status, response.text]).toEqual([200, '{"call_usage":{},"unfinished_call_ids":[]}']);
  });

  it("feedback statistics with the maximum of buckets and numbers succeed", async () => {
    const request = {
      project_id,
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
});

describe("an insert", () => {
  it("is distinguished from an earlier equal one, on any replicated table", async () => {
    const options = { name: "twice" };
    const engine = connectServer(front.url);
    await engine.command(
      sql`CREATE TABLE twice (n UInt8) ENGINE = MergeTree ORDER BY n SETTINGS non_replicated_deduplication_window = 100`,
      options,
    );
    for (let turn = 0; turn < 2; turn++) await engine.insert("twice", [{ n: 1 }], options);
    expect(await engine.rows(sql`SELECT count() AS n FROM twice`, options)).toEqual([{ n: 2 }]);
    await engine.close();
  });
});

describe("a server that fails", () => {
  let engine: Engine;
  beforeAll(() => {
    engine = connectServer(front.url, { limits: testLimits, graceMs: 200 });
  });
  afterEach(() => {
    for (const fault of Object.keys(front.faults)) delete front.faults[fault as keyof typeof front.faults];
  });
  afterAll(() => engine.close());
  const options = { name: "failing", limits: "heavy" } as const;
  const breaks = sql`SELECT number, throwIf(number = 2000000, ${param("String", "boom")}) AS t FROM numbers(4000000)
    SETTINGS max_threads = 1, max_block_size = 65536`;

  it("during a response, with or without a reset, never returns a truncated one", async () => {
    const failures: Record<string, unknown> = {
      "tagged-and-broken": { kind: "statement", engineCode: "395" },
      tagged: { kind: "statement", engineCode: "395" },
      broken: { kind: "unavailable", engineCode: "ECONNRESET" },
    };
    for (const midStream of ["tagged-and-broken", "tagged", "broken"] as const) {
      front.faults.midStream = midStream;
      await expect(engine.bytes(breaks, "RowBinary", options)).rejects.toMatchObject(failures[midStream]!);
    }
  });

  it("behind a proxy that cannot reach it is unavailable", async () => {
    front.faults.badGateway = true;
    await expect(engine.rows(sql`SELECT 1`, options)).rejects.toMatchObject({ kind: "unavailable" });
    await expect(engine.insert("t", [{ n: 1 }], options)).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("by not responding is unavailable after the timeout", async () => {
    front.faults.silent = true;
    await expect(engine.rows(sql`SELECT 1`, { name: "failing" })).rejects.toMatchObject({
      kind: "unavailable",
      engineCode: "ETIMEDOUT",
    });
  });

  it("by refusing connections is unavailable", async () => {
    const nobody = await startFakeServer(dir);
    await nobody.close();
    const nowhere = connectServer(nobody.url);
    await expect(nowhere.version()).rejects.toMatchObject({
      kind: "unavailable",
      engineCode: "ECONNREFUSED",
    });
    await nowhere.close();
  });
});
