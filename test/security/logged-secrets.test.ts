import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenAPIV3_1 } from "openapi-types";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateKey, SCOPES } from "../../src/http/auth/api-key.ts";
import { createKeyStore } from "../../src/http/auth/key-store.ts";
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

let test: TestApp;
let logged = "";

beforeAll(async () => {
  const logger = pino({ level: "trace" }, { write: (line: string) => (logged += line) });
  test = await startApp({ deps: { logger }, settings: { FAILED_AUTH_PER_MINUTE: "100000" } });
  const { id, secretHash } = client;
  const key = { id, name: "all", secretHash, scopes: SCOPES, projects: ["acme/*"], expiresAtMs: null };
  await createKeyStore(test.engine).add(key);
});
afterAll(() => test.close());

describe("at LOG_LEVEL=trace", () => {
  it("no route logs a key, a header or a body, whatever its media type", async () => {
    for (const { method, url } of routes) {
      for (const scheme of ["basic", "bearer"] as const) {
        for (const [type, payload] of bodies) {
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
