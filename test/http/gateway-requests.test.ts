import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  bearer,
  recordedCall,
  sendTo,
  startGateway,
  startSecondApp,
  type TestGateway,
} from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway();
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

const CHAT = '{"model":"m","messages":[]}';
const PROJECT = "openai-project: acme/requests";
const JSON_TYPE = "content-type: application/json";
const GZIP = "content-encoding: gzip";
const ACCEPTS = "accept-encoding: gzip, br;q=0.5";

/** 64-bit seeds, 1.0, `__proto__`, unknown members. */
const ODD =
  '{"model":"m","seed":9223372036854775807,"temperature":1.0,"__proto__":{"a":1},"constructor":{"prototype":{}},' +
  '"messages":[{"role":"user","content":"\\ud83c\\udf32 1e400"}],"return_token_ids":true,"vllm_xargs":{"k":1.50},' +
  '"min_p":0.10, "chat_template_kwargs":{"enable_thinking":false}}';
const MODEL = gzipSync('{"project":"p","name":"gz","base_model":"b"}');

describe("a request arrives byte for byte", () => {
  it.each<[string, string[], (string | Buffer)?]>([
    ["POST /v1/chat/completions", [JSON_TYPE], ODD],
    ["POST /v1/chat/completions", [JSON_TYPE, PROJECT], ODD],
    ["POST /v1/chat/completions", [JSON_TYPE, PROJECT, GZIP], gzipSync(ODD)],
    ["POST /v1/chat/completions", ["expect: 100-continue", ACCEPTS], CHAT],
    ["POST /v1/anything/else", [JSON_TYPE, PROJECT], ODD],
    ["POST /v1/preview/training-jobs", [JSON_TYPE, GZIP], gzipSync(ODD)],
    ["POST /v1/preview/models", [JSON_TYPE, GZIP], MODEL],
    // as the Python SDK and ART send them
    ["DELETE /v1/preview/models/m", [JSON_TYPE]],
    ["DELETE /v1/preview/models/m/checkpoints", [JSON_TYPE], '{ "steps" : [1,\n 2], "why":"\\u00e9" }'],
    ["POST /v1/training/runs/r:close", [JSON_TYPE, "content-length: 0"]],
    ["POST /v1/training/runs/r:close", [JSON_TYPE, "transfer-encoding: chunked"], "0\r\n\r\n"],
  ])("%s %j", async (line, lines, body = "") => {
    test.upstream.fail({ kind: "answer", status: 200, body: "{}" });
    expect((await sendTo(test, line, lines, body).answer).status).toBe(200);
    const [seen, ...others] = test.upstream.seen;
    const { method, url, headers, body: arrived } = seen!;
    const isEmpty = body.length === 0 || lines.includes("transfer-encoding: chunked");
    const length = isEmpty ? undefined : String(Buffer.byteLength(body));
    expect([`${method} ${url}`, arrived, others]).toEqual([line, Buffer.from(isEmpty ? "" : body), []]);
    expect(headers["content-encoding"]).toBe(lines.includes(GZIP) ? "gzip" : undefined);
    expect(headers["accept-encoding"]).toBe(lines.includes(ACCEPTS) ? "gzip, br;q=0.5" : undefined);
    if (length !== undefined || method === "DELETE") expect(headers["content-length"]).toBe(length);
  });
});

describe("the target of a request", () => {
  it.each([
    ["http://other.example/v1/models/m1", "/v1/models/m1"],
    ["HTTPS://other.example:8443/v1/models?a=//b", "/v1/models?a=//b"],
    ["/v1//models///m1", "/v1/models/m1"],
    ["/%761/%6Dodels/a%20b%2Fc", "/v1/models/a%20b%2Fc"],
    ["/traces/v1/models", "/v1/models"],
  ])("is normalized: %s is sent as %s", async (target, upstream) => {
    expect((await sendTo(test, `GET ${target}`).answer).status).toBe(200);
    expect(test.upstream.seen.map(({ url }) => url)).toEqual([upstream]);
  });

  it.each([
    "/v1/chat/completions/",
    "/v1//chat///completions//",
    "/v1/%63hat/complet%69ons",
    "/v1/Chat/COMPLETIONS",
    "http://elsewhere.example/v1/chat/completions",
  ])("is that of completions, and recorded: %s", async (target) => {
    const { headers } = await sendTo(test, `POST ${target}`, [PROJECT], CHAT).answer;
    expect(headers["x-sumtree-call-id"]).toBeDefined();
    expect(test.upstream.seen.map(({ url }) => url)).toEqual(["/v1/chat/completions"]);
  });

  it.each([
    "/v1/../admin",
    "/v1/a/%2e%2e/%2e%2e/admin",
    "/v1/a%2f..%2f..%2fadmin",
    "/v1/..;/admin",
    "/v1/%2e%2e%3bx/admin",
    "/v1/%252e%252e/admin",
    "/v1/a\\..\\admin",
    "http://other.example/v1/../admin",
  ])("never leaves the upstream's base path: %s", async (path) => {
    const { status } = await sendTo(test, `GET ${path}`).answer;
    expect([status, test.upstream.seen]).toEqual([404, []]);
  });
});

describe("nothing is sent upstream", () => {
  const part = `10000\r\n${"x".repeat(65_536)}\r\n`;
  it.each<[string, string[], string | Buffer, number]>([
    ["of another type", [GZIP], gzipSync('{"project":1}'), 422],
    ["too large when decompressed", [GZIP], gzipSync(`"${"x".repeat(5_000_000)}"`), 413],
    ["too large, without a length", ["transfer-encoding: chunked"], part.repeat(40), 413],
  ])("of a body %s", async (_what, lines, body, status) => {
    const came = await sendTo(test, "POST /v1/preview/models", lines, body).answer;
    expect([came.status, test.upstream.seen]).toEqual([status, []]);
  });

  it("of another method of Gemini's verbs", async () => {
    const { status, headers } = await sendTo(test, "PUT /v1beta/models/m:generateContent").answer;
    expect([status, headers["allow"], test.upstream.seen]).toEqual([405, "POST", []]);
  });

  it.each([
    ["/v1/chat/completions/", "POST, OPTIONS"],
    ["/v1/preview/base-models", "GET, OPTIONS"],
    ["/v1/preview/models/m/checkpoints", "GET, DELETE, OPTIONS"],
  ])("of another method of %s", async (path, allow) => {
    const url = `http://127.0.0.1:${test.port}${path}`;
    for (const method of ["OPTIONS", "HEAD", "PUT"]) {
      const { status, headers } = await fetch(url, { method, headers: bearer });
      expect([method, status, headers.get("allow")]).toEqual([
        method,
        method === "OPTIONS" ? 204 : 405,
        allow,
      ]);
    }
    expect(test.upstream.seen).toEqual([]);
  });
});

it("the name of a project is decoded as UTF-8, and relayed as it came", async () => {
  const name = "acme/größe-🌲";
  const bytes = Buffer.from(name).toString("latin1");
  await sendTo(test, "POST /v1/chat/completions", [`openai-project: ${bytes}`], CHAT).answer;
  expect(await recordedCall(test, name)).toMatchObject({ attributes: { sumtree: { outcome: "finished" } } });
  expect(test.upstream.seen[0]!.headers["openai-project"]).toBe(bytes);
});

it("an upstream's URL keeps its query beside the client's, and its user and password are Basic credentials", async () => {
  const url = new URL(test.upstream.url);
  url.search = "?api-version=2024-10-21&code=a%2Fb-and-more-of-it";
  [url.username, url.password] = ["oper:ator", "pässword"];
  const app = await startSecondApp(test, { TRAINING_UPSTREAM_URL: url.href, TRAINING_UPSTREAM_API_KEY: "" });
  await sendTo(app, "POST /v1/chat/completions?a=1&api-version=7", [], CHAT).answer;
  const location = "https://elsewhere.example/files/?code=a%2Fb-and-more-of-it";
  test.upstream.fail({ kind: "answer", status: 307, body: "", headers: { location } });
  const { headers } = await sendTo(app, "POST /v1/files?b", [], "{}").answer;
  const authorization = `Basic ${Buffer.from("oper:ator:pässword").toString("base64")}`;
  expect(test.upstream.seen).toMatchObject([
    { url: "/v1/chat/completions?a=1&api-version=7&code=a%2Fb-and-more-of-it", headers: { authorization } },
    { url: "/v1/files?b&api-version=2024-10-21&code=a%2Fb-and-more-of-it", headers: { authorization } },
  ]);
  expect(headers["location"]).toBe(`https://elsewhere.example/files/?code=${"*".repeat(20)}`);
  await app.close();
});

it("bodies that are held are limited, first by entity", async () => {
  const app = await startSecondApp(test, { MAX_BODY_BYTES_IN_FLIGHT: String(256 * 1024) });
  const [greedy, modest] = await Promise.all(
    ["greedy", "modest"].map(async (name) => {
      const made = await test.post("/api-keys", { name, scopes: ["train"], projects: [`${name}/p`] });
      return `authorization: Bearer ${made.json().key}`;
    }),
  );
  const line = "POST /v1/chat/completions";
  const open = Array.from({ length: 4 }, () =>
    sendTo(app, line, [greedy!, JSON_TYPE, "content-length: 200000"], " ".repeat(100_000)),
  );
  const texts = (): string[] => open.map(({ received }) => received().toString());
  await until(() => texts().filter((text) => text.startsWith("HTTP/1.1 503")).length >= 2);
  expect(texts()).toContain("");
  const content = "x".repeat(20_000);
  const small = JSON.stringify({ model: "m", messages: [{ role: "user", content }] });
  expect((await sendTo(app, line, [modest!, JSON_TYPE], small).answer).status).toBe(200);
  for (const { socket } of open) socket.destroy();
  const metrics = async (): Promise<string> =>
    (await fetch(`${app.url}/metrics`, { headers: bearer })).text();
  await until(async () => /^sumtree_limiter_in_use\{limiter="bodies"\} 0$/m.test(await metrics()));
  await app.close();
});
