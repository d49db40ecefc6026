import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenAPIV3_1 } from "openapi-types";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateKey, SCOPES } from "../../src/http/auth/api-key.ts";
import { createKeyStore } from "../../src/http/auth/key-store.ts";
import { readConfig } from "../../src/config.ts";
import { createLog } from "../../src/log.ts";
import { isLong, runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { authorization, ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";

const document = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../openapi.json"), "utf8"),
) as OpenAPIV3_1.Document;
const routes = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
  Object.keys(item ?? {}).map((method) => ({
    method: method.toUpperCase() as "GET",
    url: path.replaceAll(/\{\w+\}/g, "x"),
  })),
);

const client = generateKey();
const WORDS = "words-of-the-client";
const form = [
  "--b",
  'content-disposition: form-data; name="project_id"',
  "",
  `acme/${WORDS}`,
  "--b",
  'content-disposition: form-data; name="file"; filename="f"',
  "",
  WORDS,
  "--b--",
  "",
].join("\r\n");
const bodies = [
  ["application/json", JSON.stringify({ project_id: `acme/${WORDS}`, [WORDS]: WORDS })],
  ["application/json", `{"${WORDS}`],
  ["multipart/form-data; boundary=b", form],
  ["multipart/form-data", form],
  ["application/x-protobuf", WORDS],
] as const;

const OPERATOR = {
  training: 'sk-operator/0123+456="789',
  password: "the password: of chat",
  query: "key-in-the-query-of-chat",
  anthropic: "sk-ant-operator-0123",
  route: "key-of-a-route-in-its-file",
  store: "the-password-of-the-store",
};
const settings = {
  LOG_LEVEL: "trace",
  // nobody listens there
  TRAINING_UPSTREAM_URL: "http://127.0.0.1:9/v1",
  TRAINING_UPSTREAM_API_KEY: OPERATOR.training,
  ANTHROPIC_UPSTREAM_URL: "http://127.0.0.1:9/v1",
  ANTHROPIC_UPSTREAM_API_KEY: OPERATOR.anthropic,
  CHAT_UPSTREAM_URL: `http://me:${encodeURIComponent(OPERATOR.password)}@127.0.0.1:9/v1?key=${OPERATOR.query}`,
};
const config = readConfig({
  ...settings,
  ROOT_API_KEY: ROOT_KEY,
  CLICKHOUSE_URL: `http://default:${OPERATOR.store}@127.0.0.1:8123/sumtree`,
});

let test: TestApp;
let logged = "";
const gatewayRoutes = [{ url: "http://127.0.0.1:9/v1", api: "openai" as const, apiKey: OPERATOR.route }];
const logger = createLog({ ...config, gatewayRoutes }, { write: (line: string) => (logged += line) });

beforeAll(async () => {
  test = await startApp({ deps: { logger }, settings });
  const { id, secretHash } = client;
  const key = { id, name: "all", secretHash, scopes: SCOPES, projects: ["acme/*"], expiresAtMs: null };
  await createKeyStore(test.engine).add(key);
});
afterAll(() => test.close());

describe("at LOG_LEVEL=trace", () => {
  it("no route logs a key, a header or a body, for any media type", async () => {
    const schemes = ["basic", "bearer"] as const;
    for (const [route, { method, url }] of routes.entries()) {
      for (const [at, [type, payload]] of bodies.entries()) {
        for (const scheme of isLong ? schemes : [schemes[(route + at) % 2]]) {
          const headers = {
            authorization: authorization(client.text, scheme),
            cookie: `session=${WORDS}`,
            "proxy-authorization": `Basic ${WORDS}`,
            "x-api-key": WORDS,
            "content-type": type,
          };
          await test.app.inject({ method, url, headers, ...(method === "GET" ? {} : { payload }) });
        }
      }
    }
    const secrets = [client.text, authorization(client.text).slice("Basic ".length), ROOT_KEY, WORDS];
    expect(secrets.filter((secret) => logged.includes(secret))).toEqual([]);
    expect(logged).toContain("starting multipart parsing");
  });
});

/** As they are, and as JSON, URLs and Basic have them. */
function formsOf(secret: string): readonly string[] {
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    Buffer.from(`me:${secret}`).toString("base64"),
  ];
}

const SECRETS = [client.text, ROOT_KEY, ...Object.values(OPERATOR)];
const secret = fc.constantFrom(...SECRETS);
/** Positions of a secret in a request, intended or not. */
const PLACES: Readonly<
  Record<string, (text: string) => { url?: string; headers?: object; payload?: object }>
> = {
  bearer: (text) => ({ headers: { authorization: `Bearer ${text}` } }),
  basic: (text) => ({ headers: { authorization: authorization(text) } }),
  "user of basic": (text) => ({
    headers: { authorization: `Basic ${Buffer.from(`${text}:`).toString("base64")}` },
  }),
  "no scheme": (text) => ({ headers: { authorization: text } }),
  "x-api-key": (text) => ({ headers: { "x-api-key": text } }),
  "api-key": (text) => ({ headers: { "api-key": text } }),
  cookie: (text) => ({ headers: { cookie: `session=${text}` } }),
  "proxy-authorization": (text) => ({ headers: { "proxy-authorization": `Bearer ${text}` } }),
  "x-request-id": (text) => ({ headers: { "x-request-id": text } }),
  "user-agent": (text) => ({ headers: { "user-agent": text } }),
  "openai-project": (text) => ({ headers: { "openai-project": text } }),
  origin: (text) => ({ headers: { origin: `https://${text}` } }),
  "content-type": (text) => ({ headers: { "content-type": `multipart/form-data; boundary=${text}` } }),
  "x-forwarded-for": (text) => ({ headers: { "x-forwarded-for": text } }),
  query: (text) => ({ url: `?key=${encodeURIComponent(text)}` }),
  path: (text) => ({ url: `/${encodeURIComponent(text)}` }),
  "user of the path": (text) => ({ url: `/..//me:${encodeURIComponent(text)}@host` }),
  "a value": (text) => ({ payload: { project_id: text, model: text, messages: text } }),
  "a name": (text) => ({ payload: { [text]: 1 } }),
};

describe("every line of the log", () => {
  it("is free of secrets, for any route and any position of them", async () => {
    const anywhere = fc.record({
      route: fc.constantFrom(...routes),
      place: fc.constantFrom(...Object.keys(PLACES)),
      secret,
      authorized: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(anywhere, async ({ route: { method, url }, place, secret, authorized }) => {
        logged = "";
        const asked = PLACES[place]!(secret);
        await test.app.inject({
          method,
          url: url + (asked.url ?? ""),
          headers: { ...(authorized ? { authorization: authorization(client.text) } : {}), ...asked.headers },
          ...(method === "GET" ? {} : { payload: asked.payload ?? {} }),
        });
        expect(formsOf(secret).filter((form) => logged.includes(form))).toEqual([]);
      }),
      { numRuns: runs(150, 5000), seed: chosenSeed() },
    );
  });

  it("is free of secrets, and JSON, for any log call", () => {
    const words = fc.tuple(fc.string(), secret, fc.string()).map((parts) => parts.join(""));
    const holding = fc.oneof(
      words,
      words.map((text) => new Error(text)),
      words.map((text) => ({ err: new Error("failed", { cause: new Error(text) }) })),
      words.map((text) => ({ [text]: [{ deep: { text } }] })),
      words.map((text) => ({
        url: `http://me:${encodeURIComponent(text)}@host/?a=${encodeURIComponent(text)}`,
      })),
    );
    const level = fc.constantFrom("trace", "debug", "info", "warn", "error", "fatal");
    fc.assert(
      fc.property(holding, level, fc.boolean(), (value, at, asChild) => {
        logged = "";
        const one = asChild ? logger.child({ bound: value }) : logger;
        one[at as "info"](value as object, "text");
        const line = JSON.parse(logged) as object;
        expect(Object.keys(line)).toContain("level");
        expect(
          SECRETS.flatMap((each) => formsOf(each).slice(0, 3)).filter((form) => logged.includes(form)),
        ).toEqual([]);
      }),
      { numRuns: runs(500, 10_000), seed: chosenSeed() },
    );
  });

  it("has no unknown keys or credentials, either", () => {
    logged = "";
    const unknown = generateKey().text;
    logger.warn(
      { err: new Error(`connect to https://ann:pw@host/x with ${unknown}`) },
      `Bearer ${"z".repeat(9)}`,
    );
    expect(logged).not.toMatch(/ann|pw|zzz/);
    expect(logged).not.toContain(unknown.slice(16));
    expect(logged).toContain(`st_${unknown.slice(3, 15)}_***`);
    expect(logged).toContain("://***@host/x");
  });
});
