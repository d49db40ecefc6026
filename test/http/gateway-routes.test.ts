import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startProvider, type Provider } from "../helpers/provider.ts";
import { awaitCalls } from "../helpers/recorded-calls.ts";
import { authorization } from "../helpers/start-app.ts";
import {
  bearer,
  startGateway,
  startSecondApp,
  UPSTREAM_KEY,
  type TestGateway,
} from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

/** An upstream of models, which answers as told. */
let models: Provider;
let answer: { status: number; type: string; body: string; length?: number };
let test: TestGateway;
beforeAll(async () => {
  models = await startProvider((_asked, response) => {
    const { status, type, body, length = body.length } = answer;
    response.writeHead(status, { "content-type": type, "content-length": length });
    response.write(body, () => (length === body.length ? response.end() : response.destroy()));
  });
  test = await startGateway();
});
afterAll(async () => {
  await test.close();
  await models.close();
});
beforeEach(() => {
  test.upstream.forget();
  models.seen.splice(0);
});

interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly base?: string;
}

async function ask(
  line: string,
  { body, headers = bearer, base = `http://127.0.0.1:${test.port}` }: Sent = {},
) {
  const [method = "", path = ""] = line.split(" ");
  const response = await fetch(base + path, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  // eslint-disable-next-line typescript/no-explicit-any -- assertions look into answers of any shape
  return { status: response.status, headers: response.headers, text, json: (): any => JSON.parse(text) };
}

async function withSettings(settings: Record<string, string>, run: (base: string) => Promise<void>) {
  const app = await startSecondApp(test, settings);
  try {
    await run(app.url);
  } finally {
    await app.close();
  }
}

const CHAT = "POST /v1/chat/completions";
const chat = { model: "m", messages: [{ role: "user", content: "hello" }] };
const error = (message: unknown, type: string, code: string) => ({
  error: { message, type, param: null, code },
  detail: expect.anything(),
});

describe("the routes of the training API", () => {
  it("return the gateway's own health, and relay checks and base models", async () => {
    const upstreams = { training: "configured", chat: "not_configured" };
    expect((await ask("GET /v1/health")).json()).toEqual({ status: "ok", upstreams });
    expect(test.upstream.seen).toHaveLength(0);
    expect((await ask("GET /v1/system-check")).json()).toMatchObject({ api: true });
    expect((await ask("GET /v1/preview/base-models")).json()).toContain("OpenPipe/Qwen3-14B-Instruct");
    expect(test.upstream.seen).toHaveLength(2);
  });

  it("relay the unknown unchanged", async () => {
    const [line, body] = ["PATCH /v1/some/thing?x=1&x=2", { a: 1 }];
    expect((await ask(line, { body })).status).toBe(200);
    const [{ method, url, body: sent } = { method: "", url: "", body: "" }] = test.upstream.seen;
    expect([`${method} ${url}`, sent.toString()]).toEqual([line, JSON.stringify(body)]);
  });
});

describe("a request that the gateway rejects", () => {
  it.each([{}, { authorization: authorization() }, { authorization: "Bearer nobody" }])(
    "returns 401 with the scheme on every route: %j",
    async (headers) => {
      for (const path of ["/v1/health", "/v1/system-check", "/v1/preview/base-models", "/v1/anything"]) {
        const got = await ask(`GET ${path}`, { headers });
        expect(got.status).toBe(401);
        expect(got.headers.get("www-authenticate")).toMatch(/^Bearer /);
        expect(got.json()).toEqual(error("Authentication failed", "authentication_error", "unauthenticated"));
      }
      expect(test.upstream.seen).toHaveLength(0);
    },
  );

  it.each<[line: string, body: unknown, status: number, locations: readonly (readonly string[])[]]>([
    ...["limit=0", "limit=101", "limit=ten", "limit=", "limit=1&limit=2"].map(
      (query) =>
        [`GET /v1/preview/models/m/checkpoints?${query}`, undefined, 422, [["query", "limit"]]] as never,
    ),
    ["GET /v1/preview/models/m/checkpoints?order=up", undefined, 422, [["query", "order"]]],
    ["GET /v1/preview/training-jobs/j/events?limit=101", undefined, 422, [["query", "limit"]]],
    [
      "POST /v1/preview/models",
      { project: 1, name: "n", extra: true },
      422,
      [
        ["body", "project"],
        ["body", "base_model"],
      ],
    ],
    ["POST /v1/preview/models", undefined, 422, [["body"]]],
  ])("returns each issue: %s %j", async (line, body, status, locations) => {
    const got = await ask(line, { body });
    const { error: told, detail } = got.json();
    expect([got.status, detail.map(({ loc }: { loc: unknown }) => loc)]).toEqual([status, locations]);
    expect(told).toMatchObject({ type: "invalid_request_error", code: "validation" });
    if (body === undefined && line.startsWith("GET")) expect(told.param).toBe(locations[0]!.at(-1));
    expect(test.upstream.seen).toHaveLength(0);
  });

  it("returns 400 for a small body that is not JSON, and unknown members are none", async () => {
    const broken = await ask("POST /v1/preview/models", { body: "{" });
    expect([broken.status, broken.json().error.code]).toEqual([400, "bad_request"]);
    const body = { project: "p", name: "open", base_model: "b", from_the_future: { a: 1 } };
    expect((await ask("POST /v1/preview/models", { body })).status).toBe(200);
  });

  it("has a request id, as every response has, and the client's own if it sent one", async () => {
    const id = (await ask("GET /v1/health", { headers: {} })).headers.get("x-request-id");
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const named = await ask(CHAT, { body: chat, headers: { ...bearer, "x-request-id": "mine-1" } });
    expect(named.headers.get("x-request-id")).toBe("mine-1");
    expect(test.upstream.seen.at(-1)!.headers["x-request-id"]).toBe("mine-1");
  });

  it("returns 429 with Retry-After if too many requests are open", () =>
    withSettings({ UPSTREAM_MAX_CONCURRENT: "1" }, async (base) => {
      test.upstream.fail({ kind: "silence", ms: 5000 });
      const leave = new AbortController();
      const sent = { method: "POST", headers: bearer, body: JSON.stringify(chat), signal: leave.signal };
      const first = fetch(`${base}/v1/chat/completions`, sent).catch(() => undefined);
      await until(() => test.upstream.seen.length === 1);
      const second = await ask("GET /v1/preview/base-models", { base });
      expect([second.status, second.json()]).toEqual([
        429,
        error("Concurrency limit reached for requests", "rate_limit_error", "concurrency_limit"),
      ]);
      const advice = { "retry-after": "1", "retry-after-ms": "1000" };
      expect(Object.fromEntries(second.headers)).toMatchObject(advice);
      leave.abort();
      await first;
      await until(async () => (await ask("GET /v1/preview/base-models", { base })).status === 200);
    }));
});

describe("upstreams", () => {
  it("that are missing are named, and health is reported without any", () =>
    withSettings({ TRAINING_UPSTREAM_URL: "" }, async (base) => {
      for (const [line, name] of [
        ["GET /v1/preview/training-jobs/j", "TRAINING_UPSTREAM_URL"],
        [CHAT, "CHAT_UPSTREAM_URL"],
        ["POST /v1/responses", "CHAT_UPSTREAM_URL"],
        ["POST /v1/embeddings", "CHAT_UPSTREAM_URL"],
        ["POST /v1/messages", "ANTHROPIC_UPSTREAM_URL"],
        ["POST /v1beta/models/m:generateContent", "GEMINI_UPSTREAM_URL"],
      ] as const) {
        const got = await ask(line, { base, ...(line.startsWith("POST") && { body: chat }) });
        expect([line, got.status, got.json().error.message]).toEqual([
          line,
          503,
          expect.stringContaining(name),
        ]);
      }
      expect((await ask("GET /v1/health", { base })).status).toBe(200);
    }));

  it("of models may be apart, with a key of their own", () =>
    withSettings(
      { CHAT_UPSTREAM_URL: `${models.origin}/openai/v1/`, CHAT_UPSTREAM_API_KEY: "chat-key" },
      async (base) => {
        answer = { status: 200, type: "application/json", body: "{}" };
        expect((await ask(`${CHAT}/`, { body: chat, base })).status).toBe(200);
        expect((await ask("GET /v1/preview/base-models", { base })).status).toBe(200);
        const { seen } = test.upstream;
        expect([...models.seen, ...seen].map(({ url, headers }) => [url, headers.authorization])).toEqual([
          ["/openai/v1/chat/completions", "Bearer chat-key"],
          ["/v1/preview/base-models", `Bearer ${UPSTREAM_KEY}`],
        ]);
      },
    ));

  it("receive no unknown paths with GATEWAY_PASSTHROUGH_PATHS=none", () =>
    withSettings({ GATEWAY_PASSTHROUGH_PATHS: "none" }, async (base) => {
      const message = "No route for this path. GATEWAY_PASSTHROUGH_PATHS lists what else passes.";
      const got = await ask("GET /v1/training/runs/r1", { base });
      expect([got.status, got.json()]).toEqual([404, error(message, "not_found_error", "not_found")]);
    }));
});

/** Chat alone has a format of its own for errors. */
const PATHS = ["/completions", "/responses", "/messages", "/embeddings", "/rerank", "/images/generations"];

it.each([
  [
    "error",
    { status: 422, type: "application/json", body: '{"detail":[{"loc":["body","n"],"msg":"too many"}]}' },
  ],
  ["error", { status: 524, type: "text/html", body: "<h1>A timeout occurred</h1>" }],
  ["upstream_cut", { status: 529, type: "application/json", body: '{"type":"err', length: 100 }],
])("an upstream's error passes unchanged, or in our format if it is cut: %s %j", async (outcome, told) => {
  answer = told;
  const project = `acme/errors-${told.status}`;
  await withSettings({ TRAINING_UPSTREAM_URL: `${models.origin}/v1` }, async (base) => {
    for (const path of PATHS) {
      const headers = { ...bearer, "x-sumtree-project": project };
      const got = await ask(`POST /v1${path}`, { body: { model: "m" }, headers, base });
      expect([path, got.status]).toEqual([path, told.status]);
      if (outcome === "error")
        expect([got.headers.get("content-type"), got.text]).toEqual([told.type, told.body]);
      else {
        const [type, kind] = path === "/messages" ? ["api_error", "error"] : ["upstream_error", undefined];
        const shown = { type, code: "upstream_broken", message: expect.any(String) };
        expect([got.json().type, got.json().error]).toMatchObject([kind, shown]);
      }
    }
  });
  for (const { attributes } of await awaitCalls(test, project, PATHS.length))
    expect(attributes.sumtree).toMatchObject({ usage: "none", outcome });
});
