import fc from "fast-check";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { METHODS } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { head, sendRaw } from "../helpers/raw-http.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

const PAGE = "<!doctype html><title>the page</title>";
const RUNS = runs(150, 3000);
const seed = chosenSeed();

let dir: string;
let test: TestApp;
let port: number;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "sumtree-targets-"));
  mkdirSync(join(dir, "assets"));
  writeFileSync(join(dir, "index.html"), PAGE);
  test = await startApp({ deps: { pageDir: dir } });
  await test.app.listen({ port: 0, host: "127.0.0.1" });
  ({ port } = test.app.server.address() as AddressInfo);
});
afterAll(async () => {
  await test.close();
  rmSync(dir, { recursive: true });
});

async function ask(method: string, target: string) {
  const body = method === "POST" ? '{"project_id":"acme/a"}' : "";
  const lines = [
    `${method} ${target} HTTP/1.1`,
    "Host: sumtree.example",
    `Authorization: ${authorization()}`,
    "Connection: close",
    ...(body === "" ? [] : ["Content-Type: application/json", `Content-Length: ${body.length}`]),
  ];
  const response = await sendRaw(port, head(...lines), body).answer;
  return { ...response, text: response.body.toString() };
}

const PATHS = ["", "/", "/healthz", "/openapi.json", "/api-keys", "/trace/usage", "/v1/models", "/?x=1"];
const path = fc.constantFrom(...PATHS);
const method = fc.constantFrom(...METHODS, "GET", "POST");
const host = fc.constantFrom("sumtree.example", "127.0.0.1:8080", "[::1]:80", "evil.example");

/** Targets that name nothing which this service has, in every form that RFC 9112, 3.2, and its breakers know. */
const noPath = fc.oneof(
  path.map((rest) => `*${rest}`),
  path.map((rest) => `*${rest.slice(1)}`),
  path.map((rest) => rest.slice(1)).filter((rest) => rest !== ""),
  host,
  fc.tuple(host, path).map(([name, rest]) => name + rest),
  fc
    .tuple(fc.constantFrom("ftp", "file", "ws", "javascript", "x"), host, path)
    .map(([scheme, name, rest]) => `${scheme}://${name}${rest}`),
  fc.tuple(host, path).map(([name, rest]) => `http://user:secret@${name}${rest}`),
  path.map((rest) => `http://${rest}`),
  fc.constantFrom(
    "http:",
    "http:/",
    "https:///",
    "http://:80/",
    "http:healthz",
    "http://?x=1",
    "**",
    "*?",
    "*#",
  ),
);

describe("a request target that is not a path", () => {
  it("returns 400 in JSON with a request id, for any method, and reaches no route", async () => {
    await fc.assert(
      fc.asyncProperty(method, noPath, async (verb, target) => {
        fc.pre(!(verb === "OPTIONS" && target === "*"));
        const { status, headers, text } = await ask(verb, target);
        expect([status, headers["x-request-id"]]).toEqual([400, expect.stringMatching(/^[\w-]{8,}$/)]);
        if (verb !== "HEAD") expect(JSON.parse(text)).toMatchObject({ detail: expect.any(String) });
      }),
      { numRuns: RUNS, seed },
    );
  });

  it("is neither the web UI nor another route without its slash", async () => {
    for (const target of ["*", "*healthz", "*openapi.json", "*trace/usage", "*v1/models"])
      for (const verb of ["GET", "POST"])
        expect([verb, target, JSON.parse((await ask(verb, target)).text)]).toEqual([
          verb,
          target,
          expect.objectContaining({ detail: "The request target is not a path." }),
        ]);
  });

  it("is rejected also in OpenAI's format if no route is known", async () => {
    expect(JSON.parse((await ask("CONNECT", "example.org:443")).text)).toMatchObject({
      error: { code: "bad_request" },
    });
  });
});

describe("a request target in absolute form", () => {
  it("selects its path, for any host", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("http", "HTTPS"), host, path, async (scheme, name, rest) => {
        const absolute = await ask("GET", `${scheme}://${name}${rest}`);
        const plain = await ask("GET", rest.startsWith("/") ? rest : `/${rest}`);
        expect([absolute.status, absolute.text]).toEqual([plain.status, plain.text]);
      }),
      { numRuns: runs(50, 500), seed },
    );
  });
});

describe("a request target that is too long", () => {
  it.each([
    ["a path", "/".padEnd(2561, "a")],
    ["escapes of escapes", `/${"%252541".repeat(2200)}`],
    ["another origin's path", `http://x/${"a".repeat(2560)}`],
    ["a path of the gateway", "/v1/".padEnd(2561, "a")],
    ["a query", "/healthz?".padEnd(8193, "a")],
  ])("returns 414: %s", async (_what, target) => {
    const { status, text } = await ask("GET", target);
    expect([status, JSON.parse(text)]).toEqual([
      414,
      expect.objectContaining({ detail: "A path may have 2560 bytes, and 8192 with its query." }),
    ]);
  });

  it("is not one with two of the longest names, or a long query", async () => {
    const name = encodeURIComponent("名".repeat(128));
    expect((await ask("GET", `/projects/${name}/${name}/retention`)).status).toBe(200);
    expect((await ask("GET", "/healthz?".padEnd(8192, "a"))).status).toBe(200);
  });
});

it("OPTIONS * reaches no route, and returns no content", async () => {
  const { status, text } = await ask("OPTIONS", "*");
  expect([status, text]).toEqual([204, ""]);
});
