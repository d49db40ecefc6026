import { afterAll, beforeAll, expect, it } from "vitest";
import {
  bearer,
  sendTo,
  startGateway,
  startSecondApp,
  type SecondApp,
  type TestGateway,
} from "../helpers/start-gateway.ts";

const LIMIT = 2000;
let test: TestGateway;
let app: SecondApp;
let bare: SecondApp;
const keys = new Map([
  ["root", bearer.authorization],
  ["wrong", "Bearer wrong"],
]);
beforeAll(async () => {
  test = await startGateway();
  const { url } = test.upstream;
  const limits = { CHAT_BODY_LIMIT_BYTES: String(LIMIT), TRAINING_BODY_LIMIT_BYTES: String(LIMIT) };
  const none = { TRAINING_UPSTREAM_URL: "", GATEWAY_PASSTHROUGH_PATHS: "" };
  app = await startSecondApp(test, { ...none, ...limits, CHAT_UPSTREAM_URL: url, GEMINI_UPSTREAM_URL: url });
  bare = await startSecondApp(test, none);
  for (const scope of ["read", "gateway"]) {
    const made = await test.post("/api-keys", { name: scope, scopes: [scope], projects: ["acme/one"] });
    keys.set(scope, `Bearer ${made.json().key}`);
  }
});
afterAll(async () => {
  await Promise.all([app.close(), bare.close()]);
  await test.close();
});

interface Fault {
  readonly key?: string;
  readonly method?: string;
  readonly below?: string;
  readonly lines?: readonly string[];
  readonly body?: string;
}
const socket = { method: "GET", lines: ["upgrade: websocket", "connection: upgrade"], body: "" };
const chunks = `${(LIMIT + 1).toString(16)}\r\n${" ".repeat(LIMIT + 1)}\r\n0\r\n\r\n`;
const tooLong = { lines: ["transfer-encoding: chunked"], body: chunks };

const FAULTS: Readonly<Record<string, readonly [number, string, Fault]>> = {
  "a wrong key": [401, "unauthenticated", { key: "wrong" }],
  "a key without the scope": [403, "forbidden", { key: "read" }],
  "a foreign project": [403, "forbidden", { key: "gateway", lines: ["x-sumtree-project: acme/two"] }],
  "an unknown path": [404, "not_found", { below: "/nothing/here" }],
  "a path with dots": [404, "not_found", { below: "/../x" }],
  "a method that it has not": [405, "method_not_allowed", { method: "PUT" }],
  "a declared body over the limit": [413, "payload_too_large", { lines: ["content-length: 2001"], body: "" }],
  "a body over the limit": [413, "payload_too_large", { key: "gateway", ...tooLong }],
  "an unread body over the limit": [413, "payload_too_large", tooLong],
  "no JSON": [415, "unsupported_media_type", { key: "gateway", lines: ["content-type: text/plain"] }],
  "two hosts": [400, "bad_request", { lines: ["host: y"] }],
  "a broken escape": [400, "bad_request", { below: "/%zz" }],
  "a broken length": [400, "bad_request", { lines: ["content-length: 2x"] }],
  "two lengths": [400, "bad_request", { lines: ["content-length: 2", "content-length: 3"] }],
  "a WebSocket": [426, "upgrade_required", socket],
  "no upstream": [503, "upstream_not_configured", {}],
};

const INVALID = ["invalid_request_error"] as const;
/** In Anthropic's and Google's form, and in OpenAI's if that differs from Anthropic's; else it is an invalid request. */
const NAMES: Readonly<Record<number, readonly [anthropic: string, google?: string, openAi?: string]>> = {
  401: ["authentication_error", "UNAUTHENTICATED"],
  403: ["permission_error", "PERMISSION_DENIED"],
  404: ["not_found_error", "NOT_FOUND"],
  413: ["request_too_large", "INVALID_ARGUMENT", "invalid_request_error"],
  503: ["api_error", "UNAVAILABLE", "server_error"],
};

it.each(Object.entries(FAULTS))(
  "the error of %s has the form of its path",
  async (_what, [status, code, fault]) => {
    // what is sent before its error is known has no answer
    test.upstream.fail({ kind: "silence", ms: 60_000 }, 20);
    const { key = "root", method = "POST", below = "", lines = [], body = "{}" } = fault;
    const send = async (path: string): Promise<object> => {
      // no other method is taken in another case
      const spelled =
        method === "POST" ? path : path.toLowerCase().replace("generatecontent", "generateContent");
      const own = [`authorization: ${keys.get(key)}`, "connection: close", ...lines];
      const line = `${method} ${spelled}${below}`;
      const came = await sendTo(status === 503 ? bare : app, line, own, body).answer;
      return { path, status: came.status, ...(JSON.parse(came.body.toString()) as object) };
    };
    const text = expect.any(String) as string;
    const [anthropic, google = "INVALID_ARGUMENT", openAi = anthropic] = NAMES[status] ?? INVALID;

    const tokens = ["/v1/messages/count_tokens", "/%76%31/%6D%65ssages/count%5Ftokens"];
    const messages = ["//v1//messages", "/v1/Messages", "/traces/v1/messages", "http://x/v1/messages"];
    for (const path of [...tokens, ...messages]) {
      const error = { type: anthropic, code, message: text };
      expect(await send(path)).toMatchObject({ path, status, type: "error", error, request_id: text });
    }
    for (const path of ["/v1/responses", "//v1/chat/completions", "/v1/embeddings", "/v1/Completions"]) {
      const came = await send(path);
      expect(came).toMatchObject({ path, status, error: { type: openAi, code } });
      expect(came).not.toHaveProperty("type");
    }
    const gemini = ["/v1beta/models/m:generateContent", "//v1beta/tunedModels/m%3AcountTokens"];
    // only the verb tells it from other models
    if (fault.below === undefined) gemini.push("/%761/models/m%3aembedContent");
    const error = { code: status, message: text, status: google };
    for (const path of method === "PUT" ? [] : gemini)
      expect(await send(path)).toEqual({ path, status, error });
  },
);
