import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { generateKey } from "../../src/http/auth/api-key.ts";
import { createKeyStore } from "../../src/http/auth/key-store.ts";
import { startReferenceUpstream, type ReferenceUpstream } from "../helpers/reference-upstream/server.ts";
import { authorization } from "../helpers/start-app.ts";
import {
  bearer,
  startGateway,
  startSecondApp,
  UPSTREAM_KEY,
  type TestGateway,
} from "../helpers/start-gateway.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway();
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

const chat = { model: "m", messages: [{ role: "user", content: "hello" }] };

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = bearer) {
  const response = await fetch(`http://127.0.0.1:${test.port}${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  // eslint-disable-next-line typescript/no-explicit-any -- assertions look into answers of any shape
  return { status: response.status, headers: response.headers, text, json: (): any => JSON.parse(text) };
}

describe("the routes of the training API", () => {
  it("return the gateway's own health, and relay checks and base models", async () => {
    const health = await ask("GET", "/v1/health");
    expect(health.json()).toEqual({
      status: "ok",
      upstreams: { training: "configured", chat: "not_configured" },
    });
    expect(test.upstream.seen).toHaveLength(0);
    expect((await ask("GET", "/v1/system-check")).json()).toMatchObject({ api: true });
    expect((await ask("GET", "/v1/preview/base-models")).json()).toContain("OpenPipe/Qwen3-14B-Instruct");
    expect(test.upstream.seen).toHaveLength(2);
  });

  it.each([
    ["GET", "/v1/training/runs/r1", undefined],
    ["POST", "/v1/training/runs:resolve", { request_id: "1" }],
    ["PATCH", "/v1/some/thing?x=1&x=2", { a: 1 }],
    ["GET", "/v1/models", undefined],
  ])("relay the unknown %s %s unchanged", async (method, path, body) => {
    const answer = await ask(method, path, body);
    expect(answer.status).toBe(200);
    expect(test.upstream.seen).toMatchObject([{ method, url: path }]);
    expect(test.upstream.seen[0]!.body.toString()).toBe(body === undefined ? "" : JSON.stringify(body));
  });
});

describe("requests that the gateway rejects", () => {
  const both = (message: unknown, type: string, code: string, param: string | null = null) => ({
    error: { message, type, param, code },
    detail: expect.anything(),
  });

  it.each([
    ["no credentials", {}],
    ["Basic", { authorization: authorization() }],
    ["a wrong key", { authorization: "Bearer nobody" }],
  ])("returns 401 with the scheme for %s, on every route", async (_what, headers) => {
    for (const path of ["/v1/health", "/v1/system-check", "/v1/preview/base-models", "/v1/anything"]) {
      const answer = await ask("GET", path, undefined, headers);
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer /);
      expect(answer.json()).toEqual(both("Authentication failed", "authentication_error", "unauthenticated"));
    }
    expect(test.upstream.seen).toHaveLength(0);
  });

  it.each([
    ["/v1/preview/models/m/checkpoints?limit=0", "limit"],
    ["/v1/preview/models/m/checkpoints?limit=101", "limit"],
    ["/v1/preview/models/m/checkpoints?limit=ten", "limit"],
    ["/v1/preview/models/m/checkpoints?limit=", "limit"],
    ["/v1/preview/models/m/checkpoints?limit=1&limit=2", "limit"],
    ["/v1/preview/models/m/checkpoints?order=up", "order"],
    ["/v1/preview/training-jobs/j/events?limit=0", "limit"],
    ["/v1/preview/training-jobs/j/events?limit=101", "limit"],
  ])("returns 422 for %s", async (path, param) => {
    const answer = await ask("GET", path);
    expect([answer.status, answer.json()]).toMatchObject([
      422,
      {
        error: { type: "invalid_request_error", code: "validation", param },
        detail: [{ loc: ["query", param] }],
      },
    ]);
    expect(test.upstream.seen).toHaveLength(0);
  });

  it("returns 422 with every issue for an invalid small body, but accepts unknown members", async () => {
    const answer = await ask("POST", "/v1/preview/models", { project: 1, name: "n", extra: true });
    expect(answer.status).toBe(422);
    expect(answer.json().detail.map((issue: { loc: unknown }) => issue.loc)).toEqual([
      ["body", "project"],
      ["body", "base_model"],
    ]);
    const open = { project: "p", name: "open", base_model: "b", from_the_future: { a: 1 } };
    expect((await ask("POST", "/v1/preview/models", open)).status).toBe(200);
  });

  it("returns 400 for a small body that is not JSON, and 422 for none", async () => {
    const broken = await fetch(`${test.baseUrl}/preview/models`, {
      method: "POST",
      headers: bearer,
      body: "{",
    });
    expect([broken.status, await broken.json()]).toMatchObject([400, { error: { code: "bad_request" } }]);
    const none = await ask("POST", "/v1/preview/models");
    expect([none.status, none.json().detail]).toMatchObject([422, [{ loc: ["body"], type: "missing" }]]);
  });

  it("returns 403 for a project that the key does not cover, and sends nothing upstream", async () => {
    const { id, text, secretHash } = generateKey();
    const key = {
      id,
      name: "t",
      secretHash,
      scopes: ["train"],
      projects: ["acme/*"],
      expiresAtMs: null,
    } as const;
    await createKeyStore(test.engine).add(key);
    const headers = { authorization: `Bearer ${text}` };
    const other = await ask("POST", "/v1/chat/completions", chat, {
      ...headers,
      "openai-project": "other/one",
    });
    expect([other.status, other.json().error.code]).toEqual([403, "forbidden"]);
    expect(test.upstream.seen).toHaveLength(0);
    const own = await ask("POST", "/v1/chat/completions", chat, { ...headers, "openai-project": "acme/one" });
    expect(own.status).toBe(200);
  });

  it("returns a request id on every response, the client's own if it sent one", async () => {
    expect((await ask("GET", "/v1/health", undefined, {})).headers.get("x-request-id")).toMatch(
      /^[0-9a-f-]{36}$/,
    );
    const named = await ask("POST", "/v1/chat/completions", chat, { ...bearer, "x-request-id": "mine-1" });
    expect(named.headers.get("x-request-id")).toBe("mine-1");
    expect(test.upstream.seen.at(-1)!.headers["x-request-id"]).toBe("mine-1");
  });

  it("returns 429 with Retry-After if too many requests are open", async () => {
    const small = await startSecondApp(test, { UPSTREAM_MAX_CONCURRENT: "1" });
    try {
      test.upstream.fail({ kind: "silence", ms: 5000 });
      const leave = new AbortController();
      const first = fetch(`${small.url}/v1/chat/completions`, {
        method: "POST",
        headers: { ...bearer, "content-type": "application/json" },
        body: JSON.stringify(chat),
        signal: leave.signal,
      }).catch(() => undefined);
      await expect.poll(() => test.upstream.seen.length).toBe(1);
      const second = await fetch(`${small.url}/v1/preview/base-models`, { headers: bearer });
      expect([
        second.status,
        second.headers.get("retry-after"),
        second.headers.get("retry-after-ms"),
      ]).toEqual([429, "1", "1000"]);
      expect(await second.json()).toEqual(
        both("Concurrency limit reached for requests", "rate_limit_error", "concurrency_limit"),
      );
      leave.abort();
      await first;
      await expect
        .poll(async () => (await fetch(`${small.url}/v1/preview/base-models`, { headers: bearer })).status)
        .toBe(200);
    } finally {
      await small.close();
    }
  });
});

describe("without an upstream", () => {
  it("returns 503 and names the missing variable", async () => {
    const app = await startSecondApp(test, { TRAINING_UPSTREAM_URL: "" });
    try {
      const answer = await fetch(`${app.url}/v1/preview/training-jobs/j`, { headers: bearer });
      expect([answer.status, await answer.json()]).toMatchObject([
        503,
        {
          error: {
            code: "upstream_not_configured",
            message: expect.stringContaining("TRAINING_UPSTREAM_URL"),
          },
          detail: expect.stringContaining("TRAINING_UPSTREAM_URL"),
        },
      ]);
      const completion = await fetch(`${app.url}/v1/chat/completions`, {
        method: "POST",
        headers: bearer,
        body: JSON.stringify(chat),
      });
      expect([completion.status, await completion.json()]).toMatchObject([
        503,
        { error: { message: expect.stringContaining("CHAT_UPSTREAM_URL") } },
      ]);
      expect((await fetch(`${app.url}/v1/health`, { headers: bearer })).status).toBe(200);
    } finally {
      await app.close();
    }
  });
});

describe("with a separate chat upstream", () => {
  let chatUpstream: ReferenceUpstream;
  beforeAll(async () => {
    chatUpstream = await startReferenceUpstream({ apiKey: "chat-key", basePath: "/openai/v1" });
  });
  afterAll(() => chatUpstream.close());

  it("sends chat there with its own key, and everything else to the training upstream", async () => {
    const app = await startSecondApp(test, {
      CHAT_UPSTREAM_URL: `${chatUpstream.url}/`,
      CHAT_UPSTREAM_API_KEY: "chat-key",
    });
    try {
      const completion = await fetch(`${app.url}/v1/chat/completions/`, {
        method: "POST",
        headers: bearer,
        body: JSON.stringify(chat),
      });
      expect(completion.status).toBe(200);
      expect(chatUpstream.seen.map((seen) => [seen.url, seen.headers.authorization])).toEqual([
        ["/openai/v1/chat/completions", "Bearer chat-key"],
      ]);
      expect((await fetch(`${app.url}/v1/preview/base-models`, { headers: bearer })).status).toBe(200);
      expect(test.upstream.seen.map((seen) => seen.headers.authorization)).toEqual([
        `Bearer ${UPSTREAM_KEY}`,
      ]);
    } finally {
      await app.close();
    }
  });
});

describe("with GATEWAY_PASSTHROUGH_PATHS=none", () => {
  it("returns 404 for unknown paths", async () => {
    const app = await startSecondApp(test, { GATEWAY_PASSTHROUGH_PATHS: "none" });
    try {
      const answer = await fetch(`${app.url}/v1/training/runs/r1`, { headers: bearer });
      expect([answer.status, await answer.json()]).toEqual([
        404,
        {
          error: {
            message: "No route for this path. GATEWAY_PASSTHROUGH_PATHS lists what else passes.",
            type: "not_found_error",
            param: null,
            code: "not_found",
          },
          detail: "No route for this path. GATEWAY_PASSTHROUGH_PATHS lists what else passes.",
        },
      ]);
    } finally {
      await app.close();
    }
  });
});
