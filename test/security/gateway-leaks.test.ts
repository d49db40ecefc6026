import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateKey } from "../../src/http/auth/api-key.ts";
import { createKeyStore } from "../../src/http/auth/key-store.ts";
import { sql } from "../../src/query/sql.ts";
import { head, sendRaw, type RawResponse } from "../helpers/raw-http.ts";
import type { Fault } from "../helpers/reference-upstream/faults.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import {
  startGateway,
  startSecondApp,
  UPSTREAM_KEY,
  type SecondApp,
  type TestGateway,
} from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
let app: SecondApp;
let logged = "";
const client = generateKey();

beforeAll(async () => {
  test = await startGateway();
  const { id, secretHash } = client;
  await createKeyStore(test.engine).add({
    id,
    name: "client",
    secretHash,
    scopes: ["train"],
    projects: ["acme/*"],
    expiresAtMs: null,
  });
  await test.engine.insert("training_owners", [{ id: "m", project_id: "acme/leaks" }], { name: "test" });
  const log = new Writable({
    write(line: Buffer, _encoding, done) {
      logged += line.toString();
      done();
    },
  });
  const settings = {
    UPSTREAM_FIRST_BYTE_TIMEOUT_MS: "300",
    GEMINI_UPSTREAM_URL: test.upstream.url.replace(/\/v1$/, ""),
    GEMINI_UPSTREAM_API_KEY: GOOGLE_KEY,
  };
  app = await startSecondApp(test, settings, { logger: pino({ level: "trace" }, log) });
});
afterAll(async () => {
  await app.close();
  await test.close();
});

const GOOGLE_KEY = "google-key-of-the-operator";
const PROMPT = "the client's own words";
const COOKIE = "session=the-clients-cookie";
const secrets = [
  client.text,
  client.text.split("_").slice(2).join("_"),
  ROOT_KEY,
  COOKIE,
  "proxy-secret",
  "other-secret",
];

function send(key: string, line: string, body: string): Promise<RawResponse> {
  const headers = [
    "host: gateway",
    `authorization: Bearer ${key}`,
    `cookie: ${COOKIE}`,
    "proxy-authorization: Basic proxy-secret",
    "x-api-key: other-secret",
    `x-note: ${key}`,
    `openai-beta: ${key}`,
    "connection: keep-alive, x-stainless-lang",
    "x-stainless-lang: js",
    "x-forwarded-for: 10.1.2.3",
    "openai-project: acme/leaks",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return sendRaw(app.port, head(`${line} HTTP/1.1`, ...headers), body).answer;
}

const asked = { model: "m", messages: [{ role: "user", content: PROMPT }] };
const chat = JSON.stringify(asked);
const stream = JSON.stringify({ ...asked, stream: true });
const job = JSON.stringify({ ...asked, model_id: "m" });
const requests = [
  ["POST /v1/chat/completions", chat],
  ["POST /v1/chat/completions/", stream],
  ["POST /v1/preview/training-jobs", job],
  ["POST /v1/preview/models", '{"project":1}'],
  ["POST /v1/anything:else?limit=1", chat],
  ["GET /v1/preview/models/m/checkpoints?limit=0", ""],
  ["PUT /v1/chat/completions", ""],
] as const;

const faults: readonly Fault[] = [
  { kind: "silence", ms: 0 },
  { kind: "answer", status: 500, body: '{"detail":"boom"}' },
  { kind: "answer", status: 401, body: '{"detail":"Authentication failed"}' },
  { kind: "reset" },
  { kind: "silence", ms: 3000 },
  { kind: "socket", bytes: "nonsense\r\n\r\n" },
  { kind: "cut", afterEvents: 2, how: "mid_event" },
];

describe("secrets", () => {
  it("of clients and our own never reach the upstream, a log or a response, for any failure", async () => {
    let answered = "";
    let arrived = "";
    let count = 0;
    for (const key of [client.text, ROOT_KEY]) {
      for (const fault of faults) {
        for (const [line, body] of requests) {
          test.upstream.forget();
          test.upstream.fail(fault);
          const response = await send(key, line, body);
          answered += JSON.stringify(response.headers) + response.body.toString();
          for (const seen of test.upstream.seen) {
            count++;
            arrived += `${seen.url} ${JSON.stringify(seen.headers)} ${seen.body.toString()}\n`;
            expect(seen.headers["authorization"]).toBe(`Bearer ${UPSTREAM_KEY}`);
            expect(Object.keys(seen.headers).join(" ")).not.toMatch(
              /cookie|proxy-|forwarded|x-api-key|x-note|openai-beta|x-stainless-lang/,
            );
          }
        }
      }
    }
    expect(count).toBe(2 * faults.length * 4);
    for (const secret of secrets) {
      expect(arrived).not.toContain(secret);
      expect(logged).not.toContain(secret);
      expect(answered).not.toContain(secret);
    }
    expect(logged).toContain("upstream failed");
    for (const words of [PROMPT, UPSTREAM_KEY, "acme/leaks"]) expect(logged).not.toContain(words);
    expect(answered).not.toContain(UPSTREAM_KEY);
    expect(answered).not.toContain("set-cookie");
  });

  it("of clients in the header or the query of Gemini's API never reach the upstream, a log or a response", async () => {
    const answers: Fault[] = [
      { kind: "answer", status: 500, body: '{"error":{"message":"boom"}}' },
      { kind: "reset" },
    ];
    const paths = [
      "models/m:generateContent",
      "models/m%3astreamGenerateContent",
      "models/m:countTokens",
      "files",
    ];
    const ask = async (fault: Fault, target: string, headers: readonly string[]) => {
      test.upstream.forget();
      test.upstream.fail(fault);
      const lines = ["host: gateway", "content-type: application/json", "content-length: 2", ...headers];
      const { status, body } = await sendRaw(
        app.port,
        head(`POST /v1beta/${target} HTTP/1.1`, ...lines),
        "{}",
      ).answer;
      return {
        status,
        answered: body.toString(),
        seen: test.upstream.seen.map(({ url, headers: sent }) => ({ url, sent })),
      };
    };
    for (const key of [client.text, ROOT_KEY]) {
      const queries = [
        `?key=${key}`,
        `?alt=sse&key=${key}&key=x`,
        `?%6bey=${encodeURIComponent(key)}&alt=sse`,
      ];
      const ways: readonly (readonly [string, readonly string[]])[] = [
        ...queries.map((query) => [query, []] as const),
        ["?alt=sse", [`x-goog-api-key: ${key}`]],
        [`?key=${key}`, [`authorization: Bearer ${key}`, `x-goog-api-client: ${key}`]],
        [`?alt=sse&key=${key}`, [`x-sumtree-key: ${key}`, `x-goog-api-key: ${key}`]],
      ];
      for (const fault of answers)
        for (const path of paths)
          for (const [query, headers] of ways) {
            const { status, answered, seen } = await ask(fault, path + query, headers);
            expect([path, query, status]).toEqual([path, query, fault.kind === "answer" ? 500 : 502]);
            expect(JSON.stringify([answered, seen, logged])).not.toContain(key);
            expect(seen.map(({ sent }) => sent["x-goog-api-key"])).toEqual([GOOGLE_KEY]);
            expect(seen[0]!.url).toBe(
              `/v1beta/${path.replace("%3a", ":")}${query.includes("alt") ? "?alt=sse" : ""}`,
            );
          }
      const own = await ask(answers[0]!, `${paths[0]}?key=AIza-own&alt=sse`, [`x-sumtree-key: ${key}`]);
      expect(own.seen[0]!.url).toBe(`/v1beta/${paths[0]}?key=AIza-own&alt=sse`);
      expect(JSON.stringify(own)).not.toContain(GOOGLE_KEY);
      expect(JSON.stringify(own) + logged).not.toContain(key);
    }
  });

  it("of clients are not stored with recorded requests", async () => {
    await until(async () => {
      const usage = await test.post("/trace/usage", { project_id: "acme/leaks" });
      return (
        Object.keys((usage.json() as { call_usage: object }).call_usage).length === 2 * faults.length * 2
      );
    });
    const rows = await test.engine.rows<object>(
      sql`SELECT * FROM calls FINAL WHERE project_id = 'acme/leaks'`,
      { name: "test" },
    );
    const stored = JSON.stringify(rows);
    expect(stored).toContain(PROMPT);
    for (const secret of [...secrets, UPSTREAM_KEY]) expect(stored).not.toContain(secret);
  });
});
