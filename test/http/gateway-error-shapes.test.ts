import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { head, sendRaw } from "../helpers/raw-http.ts";
import { authorization, ROOT_KEY, startApp, startAppOn, type TestApp } from "../helpers/start-app.ts";

const LIMIT = 2000;
let test: TestApp;
let port: number;
let bare: TestApp;
let barePort: number;
const silent = createServer((request) => void request.resume());
const keys = new Map<string, string>([
  ["root", ROOT_KEY],
  ["wrong", "wrong"],
]);
beforeAll(async () => {
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
  const limits = { CHAT_BODY_LIMIT_BYTES: String(LIMIT), TRAINING_BODY_LIMIT_BYTES: String(LIMIT) };
  test = await startApp({ settings: { CHAT_UPSTREAM_URL: url, GEMINI_UPSTREAM_URL: url, ...limits } });
  await test.app.listen({ port: 0, host: "127.0.0.1" });
  ({ port } = test.app.server.address() as AddressInfo);
  bare = await startAppOn(test.engine, { settings: {} });
  await bare.app.listen({ port: 0, host: "127.0.0.1" });
  barePort = (bare.app.server.address() as AddressInfo).port;
  for (const [name, scopes] of Object.entries({ reader: ["read"], one: ["gateway"] })) {
    const payload = { name, scopes, projects: ["acme/one"] };
    const headers = { authorization: authorization() };
    const made = await test.app.inject({ method: "POST", url: "/api-keys", headers, payload });
    keys.set(name, made.json<{ key: string }>().key);
  }
});
afterAll(async () => {
  await bare.app.close();
  await test.close();
  silent.closeAllConnections();
  await new Promise((resolve) => silent.close(resolve));
});

interface Fault {
  readonly key?: string;
  readonly method?: string;
  readonly below?: string;
  readonly lines?: readonly string[];
  readonly body?: string;
  readonly isBare?: boolean;
}

async function send(path: string, { key = "root", method = "POST", below = "", ...fault }: Fault) {
  const { lines = ["content-length: 2"], body = "{}", isBare = false } = fault;
  const bearer = `authorization: Bearer ${keys.get(key)}`;
  // no other method is taken in another case
  const first = `${method} ${method === "POST" ? path : path.toLowerCase().replace("generatecontent", "generateContent")}${below} HTTP/1.1`;
  const bytes = head(first, "host: x", "connection: close", bearer, ...lines) + body;
  const { status, body: answer } = await sendRaw(isBare ? barePort : port, bytes).answer;
  return { status, body: JSON.parse(answer.toString()) as Record<string, unknown> };
}

const chunked = "transfer-encoding: chunked";
const tooLong = `${(LIMIT + 1).toString(16)}\r\n${" ".repeat(LIMIT + 1)}\r\n0\r\n\r\n`;

const FAULTS: Readonly<Record<string, readonly [number, string, string, Fault]>> = {
  "a wrong key": [401, "authentication_error", "unauthenticated", { key: "wrong" }],
  "a key without the scope": [403, "permission_error", "forbidden", { key: "reader" }],
  "a foreign project": [
    403,
    "permission_error",
    "forbidden",
    { key: "one", lines: ["x-sumtree-project: acme/two", "content-length: 2"] },
  ],
  "an unknown path": [404, "not_found_error", "not_found", { below: "/nothing/here" }],
  "a path with dots": [404, "not_found_error", "not_found", { below: "/../x" }],
  "a method that it has not": [405, "invalid_request_error", "method_not_allowed", { method: "PUT" }],
  "a declared body over the limit": [
    413,
    "request_too_large",
    "payload_too_large",
    { lines: [`content-length: ${LIMIT + 1}`], body: "" },
  ],
  "a body over the limit": [
    413,
    "request_too_large",
    "payload_too_large",
    { key: "one", lines: [chunked], body: tooLong },
  ],
  "an unread body over the limit": [
    413,
    "request_too_large",
    "payload_too_large",
    { lines: [chunked], body: tooLong },
  ],
  "a target that is too long": [
    414,
    "invalid_request_error",
    "uri_too_long",
    { below: `?x=${"y".repeat(9000)}` },
  ],
  "a path that is too long": [
    414,
    "invalid_request_error",
    "uri_too_long",
    { below: `/${"y".repeat(9000)}` },
  ],
  "an unreadable body": [
    415,
    "invalid_request_error",
    "unsupported_media_type",
    { key: "one", lines: ["content-type: text/plain", "content-length: 2"] },
  ],
  "two hosts": [400, "invalid_request_error", "bad_request", { lines: ["host: y", "content-length: 2"] }],
  "a broken escape": [400, "invalid_request_error", "bad_request", { below: "/%zz" }],
  "a broken length": [400, "invalid_request_error", "bad_request", { lines: ["content-length: 2x"] }],
  "two lengths": [
    400,
    "invalid_request_error",
    "bad_request",
    { lines: ["content-length: 2", "content-length: 3"] },
  ],
  "a WebSocket": [
    426,
    "invalid_request_error",
    "upgrade_required",
    { method: "GET", lines: ["connection: upgrade", "upgrade: websocket"], body: "" },
  ],
  "no upstream": [503, "api_error", "upstream_not_configured", { isBare: true }],
};

const OPENAI_TYPES: Readonly<Record<string, string>> = {
  request_too_large: "invalid_request_error",
  api_error: "server_error",
};

const GOOGLE_STATUS: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  503: "UNAVAILABLE",
};

describe.each(Object.entries(FAULTS))("the error of %s", (_name, [status, type, code, fault]) => {
  it.each([
    "/v1/messages",
    "/v1/messages/count_tokens",
    "//v1//messages",
    "/v1/%6dessages",
    "/%76%31/%6D%65ssages/count%5Ftokens",
    "/v1/Messages",
    "/traces/v1/messages",
    "http://elsewhere.example/v1/messages",
  ])("has Anthropic's shape at %s", async (path) => {
    const { status: got, body } = await send(path, fault);
    expect([got, body]).toMatchObject([
      status,
      { type: "error", error: { type, code }, request_id: expect.any(String) },
    ]);
  });

  const callsOfGemini = ["/v1beta/models/m:generateContent", "//v1beta/tunedModels/m%3AcountTokens"];
  // only the verb tells it from other models
  if (fault.below === undefined)
    callsOfGemini.push("/v1/models/m:embedContent", "/%761/models/m%3aembedContent");
  it.each(fault.method === "PUT" ? [] : callsOfGemini)("has Google's shape at %s", async (path) => {
    const { status: got, body } = await send(path, fault);
    const message = expect.any(String) as string;
    expect([got, body]).toEqual([
      status,
      { error: { code: status, message, status: GOOGLE_STATUS[status] ?? "INVALID_ARGUMENT" } },
    ]);
  });

  it.each(["/v1/responses", "//v1/chat/completions", "/v1/embeddings", "/v1/Completions"])(
    "has OpenAI's shape at %s",
    async (path) => {
      const { status: got, body } = await send(path, fault);
      expect(body).not.toHaveProperty("type");
      expect([got, body]).toMatchObject([status, { error: { type: OPENAI_TYPES[type] ?? type, code } }]);
    },
  );
});
