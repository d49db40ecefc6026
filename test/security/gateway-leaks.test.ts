import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sql } from "../../src/query/sql.ts";
import { head, sendRaw, type RawResponse } from "../helpers/raw-http.ts";
import { keyOf, nothingLeft } from "../helpers/recorded-calls.ts";
import type { Fault } from "../helpers/reference-upstream/faults.ts";
import { isLong } from "../helpers/runs.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import {
  startGateway,
  startSecondApp,
  UPSTREAM_KEY,
  type SecondApp,
  type TestGateway,
} from "../helpers/start-gateway.ts";

let test: TestGateway;
let app: SecondApp;
let logged = "";
let client: string;

beforeAll(async () => {
  test = await startGateway();
  client = await keyOf(test, ["acme/*"], ["train"]);
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

it("secrets of clients and our own reach no upstream, log, response or record, for any failure", async () => {
  let answered = "";
  let arrived = "";
  let count = 0;
  const keys = [client, ROOT_KEY];
  let recorded = 0;
  for (const [at, fault] of faults.entries())
    for (const key of isLong ? keys : [keys[at % 2]!])
      for (const [line, body] of requests) {
        test.upstream.forget();
        test.upstream.fail(fault);
        const response = await send(key, line, body);
        if (response.headers["x-sumtree-call-id"] !== undefined) recorded++;
        answered += JSON.stringify(response.headers) + response.body.toString();
        for (const { url, headers, body: sent } of test.upstream.seen) {
          count++;
          arrived += `${url} ${JSON.stringify(headers)} ${sent.toString()}\n`;
          expect(headers["authorization"]).toBe(`Bearer ${UPSTREAM_KEY}`);
          expect(Object.keys(headers).join(" ")).not.toMatch(
            /cookie|proxy-|forwarded|x-api-key|x-note|openai-beta|x-stainless-lang/,
          );
        }
      }
  const times = isLong ? 2 : 1;
  expect([count, recorded]).toEqual([times * faults.length * 4, times * faults.length * 2]);
  await nothingLeft(app);
  const select = sql`SELECT * FROM calls FINAL WHERE project_id = 'acme/leaks'`;
  const calls = await test.engine.rows<object>(select, { name: "test" });
  expect(calls).toHaveLength(recorded);
  const stored = JSON.stringify(calls);
  const secretPart = client.split("_").slice(2).join("_");
  for (const secret of [client, secretPart, ROOT_KEY, COOKIE, "proxy-secret", "other-secret"])
    for (const text of [arrived, logged, answered, stored]) expect(text).not.toContain(secret);
  expect(logged).toContain("upstream failed");
  for (const words of [PROMPT, UPSTREAM_KEY, "acme/leaks"]) expect(logged).not.toContain(words);
  for (const words of [UPSTREAM_KEY, "set-cookie"]) expect(answered).not.toContain(words);
  expect(stored).toContain(PROMPT);
  expect(stored).not.toContain(UPSTREAM_KEY);
});

it("keys in the header or the query of Gemini's API reach no upstream, log or response", async () => {
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
    const bytes = head(`POST /v1beta/${target} HTTP/1.1`, ...lines);
    const { status, body } = await sendRaw(app.port, bytes, "{}").answer;
    const seen = test.upstream.seen.map(({ url, headers: sent }) => ({ url, sent }));
    return { status, answered: body.toString(), seen };
  };
  for (const key of [client, ROOT_KEY]) {
    const ways: readonly (readonly [query: string, ...headers: string[]])[] = [
      [`?key=${key}`],
      [`?alt=sse&key=${key}&key=x`],
      [`?%6bey=${encodeURIComponent(key)}&alt=sse`],
      ["?alt=sse", `x-goog-api-key: ${key}`],
      [`?key=${key}`, `authorization: Bearer ${key}`, `x-goog-api-client: ${key}`],
      [`?alt=sse&key=${key}`, `x-sumtree-key: ${key}`, `x-goog-api-key: ${key}`],
    ];
    for (const [at, path] of paths.entries())
      for (const [way, [query, ...headers]] of ways.entries())
        for (const fault of isLong ? answers : [answers[(at + way) % 2]!]) {
          const { status, answered, seen } = await ask(fault, path + query, headers);
          expect([path, query, status]).toEqual([path, query, fault.kind === "answer" ? 500 : 502]);
          expect(JSON.stringify([answered, seen, logged])).not.toContain(key);
          expect(seen.map(({ url, sent }) => [url, sent["x-goog-api-key"]])).toEqual([
            [`/v1beta/${path.replace("%3a", ":")}${query.includes("alt") ? "?alt=sse" : ""}`, GOOGLE_KEY],
          ]);
        }
    const own = await ask(answers[0]!, `${paths[0]}?key=AIza-own&alt=sse`, [`x-sumtree-key: ${key}`]);
    expect(own.seen[0]!.url).toBe(`/v1beta/${paths[0]}?key=AIza-own&alt=sse`);
    expect(JSON.stringify(own)).not.toContain(GOOGLE_KEY);
    expect(JSON.stringify(own) + logged).not.toContain(key);
  }
});
