import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pino } from "pino";
import { fillCalls } from "../../bench/sample-calls.ts";
import { buildApp, type App } from "../../src/app.ts";
import type { Engine } from "../../src/store/engine.ts";
import { StorageError, type StorageErrorKind } from "../../src/store/storage-error.ts";
import { authorization, ROOT_KEY, startApp, type TestResponse, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ settings: { MAX_TRACE_CALLS: "500" } });
});
afterAll(() => test.close());

interface Draft {
  readonly id: string;
  readonly parent?: string;
  readonly trace?: string;
  readonly at?: number;
  readonly open?: boolean;
  readonly usage?: object;
  readonly attributes?: object;
}

function whole({ id, parent, trace = "t", at = 0, open = false, usage = {}, attributes = {} }: Draft) {
  const began = Date.UTC(2026, 0, 1) + at * 1000;
  return {
    id,
    trace_id: trace,
    parent_id: parent ?? null,
    op_name: "op",
    started_at: new Date(began).toISOString(),
    ended_at: open ? null : new Date(began + 500).toISOString(),
    inputs: {},
    attributes,
    output: null,
    summary: { usage },
  };
}

async function ingest(project: string, calls: readonly Draft[]): Promise<void> {
  const response = await test.post(`/v2/${project}/calls/complete`, { batch: calls.map(whole) });
  expect(response.json()).toEqual({ rejected: [] });
}

const usageOf = (project_id: string, more: object = {}): Promise<TestResponse> =>
  test.post("/trace/usage", { project_id, ...more });
const m = (prompt: number): object => ({ m: { requests: 1, prompt_tokens: prompt } });

describe("POST /trace/usage", () => {
  it("rejects a response in which one id would mean two calls, with a remedy", async () => {
    await ingest("acme/twins", [
      { id: "twin", trace: "one", usage: m(1) },
      { id: "twin", trace: "two", usage: m(2) },
    ]);
    const response = await usageOf("acme/twins");
    expect(response.status).toBe(422);
    expect(response.json().detail[0].msg).toContain("twin");
    const one = await usageOf("acme/twins", { filter: { trace_ids: ["two"] } });
    expect(one.json().call_usage.twin.m.prompt_tokens).toBe(2);
  });

  it("returns all ten fields for every selected call, an empty object for one without usage", async () => {
    await ingest("acme/ten", [{ id: "root" }, { id: "child", parent: "root", usage: m(3) }, { id: "idle" }]);
    const response = await usageOf("acme/ten");
    expect(response.headers["x-truncated"]).toBe("false");
    const entry = {
      requests: 1,
      prompt_tokens: 3,
      completion_tokens: 0,
      total_tokens: 3,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      prompt_tokens_total_cost: null,
      completion_tokens_total_cost: null,
      cache_read_input_tokens_total_cost: null,
      cache_creation_input_tokens_total_cost: null,
    };
    expect(response.json()).toEqual({
      call_usage: { root: { m: entry }, child: { m: entry }, idle: {} },
      unfinished_call_ids: [],
    });
  });

  it("returns the first calls if more match than the limit, with exact totals, and reports that", async () => {
    await ingest("acme/limit", [
      { id: "first", at: 0 },
      { id: "second", at: 1, parent: "first", usage: m(1) },
      { id: "third", at: 2, parent: "second", usage: m(10) },
      { id: "fourth", at: 3, parent: "third", usage: m(100) },
    ]);
    const response = await usageOf("acme/limit", { limit: 2 });
    expect(response.headers["x-truncated"]).toBe("true");
    expect(Object.keys(response.json().call_usage).sort()).toEqual(["first", "second"]);
    expect(response.json().call_usage.second.m.prompt_tokens).toBe(111);
    expect((await usageOf("acme/limit", { limit: 4 })).headers["x-truncated"]).toBe("false");
  });

  it("rejects a response that would read too many calls, with the count and a remedy", async () => {
    const calls = Array.from({ length: 501 }, (_, number) => ({
      id: `c${number}`,
      trace: `t${number % 7}`,
    }));
    await ingest("acme/many", calls);
    const response = await usageOf("acme/many");
    expect([response.status, response.json().detail]).toEqual([
      413,
      expect.stringMatching(/501 calls.*at most 500.*fewer traces/),
    ]);
  });
});

describe("POST /calls/usage", () => {
  it("has one entry per requested root", async () => {
    const response = await test.post("/calls/usage", {
      project_id: "acme/limit",
      call_ids: ["third", "second", "nobody"],
    });
    expect(Object.keys(response.json().call_usage).sort()).toEqual(["second", "third"]);
    expect(response.json().call_usage.second.m.prompt_tokens).toBe(111);
  });

  it("is empty without roots", async () => {
    const response = await test.post("/calls/usage", { project_id: "acme/limit", call_ids: [] });
    expect(response.json()).toEqual({ call_usage: {}, unfinished_call_ids: [] });
  });
});

/** The engine, failing from the nth statement of a name on. */
function failing(
  engine: Engine,
  name: string,
  { after, kind }: { after: number; kind: () => StorageErrorKind },
): Engine {
  let seen = 0;
  return {
    ...engine,
    bytes(query, format, options) {
      if (options.name === name && seen++ >= after)
        return Promise.reject(new StorageError(kind(), name, undefined, "secret row"));
      return engine.bytes(query, format, options);
    },
  };
}

describe("if the store fails", () => {
  let failsWith: StorageErrorKind;
  let app: App;
  beforeAll(async () => {
    const engine = failing(test.engine, "usage_count", { after: 0, kind: () => failsWith });
    app = await buildApp(test.config, { engine, rootKey: ROOT_KEY, logger: pino({ level: "silent" }) });
  });
  afterAll(() => app.close());
  const post = (project_id: string) => ({
    method: "POST" as const,
    url: "/trace/usage",
    headers: { authorization: authorization() },
    payload: { project_id },
  });

  it.each([
    ["unavailable", 503, "5"],
    ["overloaded", 503, "2"],
    ["timeout", 504, undefined],
    ["memory", 504, undefined],
    ["statement", 500, undefined],
  ] as const)("answers %s with %i and tells nothing of the statement", async (kind, status, retryAfter) => {
    failsWith = kind;
    const response = await app.inject(post("acme/limit"));
    expect([response.statusCode, response.headers["retry-after"]]).toEqual([status, retryAfter]);
    expect(response.payload).not.toContain("secret row");
    expect(response.json().detail).toBeTypeOf("string");
  });

  it("aborts the transfer if it fails after the first byte", async () => {
    const big = await buildApp(
      { ...test.config, MAX_TRACE_CALLS: 1_000_000 },
      {
        engine: failing(test.engine, "usage_read", { after: 2, kind: () => "unavailable" }),
        rootKey: ROOT_KEY,
        logger: pino({ level: "silent" }),
      },
    );
    // more traces than two statements read
    await fillCalls(test.engine, { project: "acme/broken", calls: 6000, callsPerTrace: 1 });
    await big.listen({ port: 0, host: "127.0.0.1" });
    const { port } = big.server.address() as AddressInfo;
    const outcome = await new Promise<{ status: number | undefined; bytes: number; ended: string }>(
      (resolve) => {
        const sent = request({
          port,
          host: "127.0.0.1",
          path: "/trace/usage",
          method: "POST",
          headers: { authorization: authorization() },
        });
        sent.on("response", (response) => {
          let bytes = 0;
          const done = (ended: string): void => resolve({ status: response.statusCode, bytes, ended });
          response.on("data", (chunk: Buffer) => (bytes += chunk.length));
          response.on("end", () => done("clean"));
          response.on("error", () => done("broken"));
        });
        sent.end(JSON.stringify({ project_id: "acme/broken", limit: 1_000_000 }));
      },
    );
    expect(outcome).toMatchObject({ status: 200, ended: "broken" });
    expect(outcome.bytes).toBeGreaterThan(0);
    await big.close();
  });
});
