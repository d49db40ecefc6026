import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenAPIV3_1 } from "openapi-types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startReferenceUpstream } from "../helpers/reference-upstream/server.ts";
import { authorization, ROOT_KEY, startApp, startAppOn, type TestApp } from "../helpers/start-app.ts";

const ORIGIN = "https://app.example.com";
const STRANGER = "https://evil.example.com";

let upstream: Awaited<ReturnType<typeof startReferenceUpstream>>;
let off: TestApp;
let on: Omit<TestApp, "engine">;
let url: string;
beforeAll(async () => {
  upstream = await startReferenceUpstream();
  off = await startApp();
  const settings = { CORS_ORIGINS: `${ORIGIN}, http://localhost:5173`, CHAT_UPSTREAM_URL: upstream.url };
  on = await startAppOn(off.engine, { settings });
  url = await on.app.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(async () => {
  await on.close();
  await off.close();
  await upstream.close();
});

const preflight = (app: TestApp["app"], path: string, origin = ORIGIN) =>
  app.inject({
    method: "OPTIONS",
    url: path,
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,x-stainless-lang",
    },
  });

const ask = (app: TestApp["app"], origin: string | undefined, headers: Record<string, string> = {}) =>
  app.inject({
    method: "POST",
    url: "/trace/usage",
    headers: { ...(origin === undefined ? {} : { origin }), ...headers },
    payload: { project_id: "acme/a" },
  });

const corsHeaders = (headers: object) =>
  Object.keys(headers).filter((name) => name.startsWith("access-control"));

describe("without CORS_ORIGINS", () => {
  it("no web page can send requests", async () => {
    const asked = await preflight(off.app, "/trace/usage");
    expect([asked.statusCode, asked.headers["allow"], corsHeaders(asked.headers)]).toEqual([405, "POST", []]);
    const answered = await ask(off.app, ORIGIN, { authorization: authorization() });
    expect([answered.statusCode, corsHeaders(answered.headers)]).toEqual([200, []]);
  });
});

describe("with CORS_ORIGINS", () => {
  it.each(["/trace/usage", "/feedback/stats", "/v1/chat/completions", "/call/start"])(
    "a preflight of a known origin needs no key: %s",
    async (path) => {
      const { statusCode, headers } = await preflight(on.app, path);
      expect(statusCode).toBe(204);
      expect(headers).toMatchObject({
        "access-control-allow-origin": ORIGIN,
        "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
        "access-control-allow-headers": "authorization,content-type,x-stainless-lang",
        "access-control-max-age": "600",
      });
      expect(headers).not.toHaveProperty("access-control-allow-credentials");
      expect(headers["vary"]).toContain("Origin");
    },
  );

  it("responses to a known origin can be read, rejections included", async () => {
    for (const [headers, status] of [
      [{ authorization: authorization() }, 200],
      [{}, 401],
    ] as const) {
      const answer = await ask(on.app, ORIGIN, headers);
      expect([answer.statusCode, answer.headers["access-control-allow-origin"]]).toEqual([status, ORIGIN]);
    }
  });

  it("other origins receive the same response as without CORS, and caches keep both apart", async () => {
    for (const origin of [STRANGER, "null", `${ORIGIN}.evil.com`, "http://app.example.com"]) {
      const asked = await preflight(on.app, "/trace/usage", origin);
      expect([asked.statusCode, corsHeaders(asked.headers)]).toEqual([405, []]);
      const answered = await ask(on.app, origin, { authorization: authorization() });
      expect([answered.statusCode, corsHeaders(answered.headers)]).toEqual([200, []]);
      expect(answered.headers["vary"]).toContain("Origin");
    }
    expect(corsHeaders((await ask(on.app, undefined)).headers)).toEqual([]);
  });

  it("ignores OPTIONS that are no preflight, unknown paths and wrong methods", async () => {
    const plain = await on.app.inject({
      method: "OPTIONS",
      url: "/trace/usage",
      headers: { origin: ORIGIN },
    });
    expect([plain.statusCode, plain.headers["allow"]]).toEqual([405, "POST"]);
    expect((await on.app.inject("/nothing")).statusCode).toBe(404);
    expect((await on.app.inject({ method: "DELETE", url: "/healthz" })).headers["allow"]).toBe("GET, HEAD");
  });

  it("a stream of the gateway can be read", async () => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${ROOT_KEY}`, "content-type": "application/json", origin: ORIGIN },
      body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "x" }] }),
    });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(response.headers.get("access-control-allow-origin")).toBe(ORIGIN);
    expect(await response.text()).toContain("[DONE]");
  });

  it("exposes every header of the API", async () => {
    const text = readFileSync(join(import.meta.dirname, "../../openapi.json"), "utf8");
    const { paths = {} } = JSON.parse(text) as OpenAPIV3_1.Document;
    const described = new Set<string>();
    for (const operation of Object.values(paths).flatMap((item) => Object.values(item ?? {}))) {
      const { responses = {} } = operation as OpenAPIV3_1.OperationObject;
      for (const response of Object.values(responses) as OpenAPIV3_1.ResponseObject[])
        for (const name of Object.keys(response.headers ?? {})) described.add(name.toLowerCase());
    }
    const exposed = (await ask(on.app, ORIGIN)).headers["access-control-expose-headers"] as string;
    const missing = [...described].filter((name) => !exposed.split(", ").includes(name));
    expect(missing.filter((name) => name !== "content-type")).toEqual([]);
  });
});

describe("a browser that has stored a key", () => {
  const from = (site: string, origin?: string, credentials = authorization()) =>
    on.app.inject({
      method: "POST",
      url: "/calls/delete",
      headers: {
        ...(origin === undefined ? {} : { origin }),
        "sec-fetch-site": site,
        authorization: credentials,
      },
      payload: JSON.stringify({ project_id: "acme/a", call_ids: ["a"] }),
    });

  it.each([
    ["cross-site", STRANGER, 403],
    ["cross-site", undefined, 403],
    ["cross-site", "null", 403],
    ["same-site", "http://127.0.0.1:9999", 403],
    ["same-site", undefined, 403],
    ["same-site", "http://localhost:5173", 200],
    ["cross-site", ORIGIN, 200],
    ["same-origin", undefined, 200],
    ["none", undefined, 200],
  ])("does not send it for a page: %s, from %s: %i", async (site, origin, status) => {
    expect((await from(site, origin)).statusCode).toBe(status);
  });

  it("does not send it for reads either, on any route with Basic", async () => {
    const { paths = {} } = JSON.parse(
      readFileSync(join(import.meta.dirname, "../../openapi.json"), "utf8"),
    ) as OpenAPIV3_1.Document;
    const answers = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item as Record<string, OpenAPIV3_1.OperationObject>)
        .filter(([, { security = [] }]) => security.some((one) => "basic" in one))
        .map(async ([method]) => {
          const { statusCode } = await on.app.inject({
            method: method.toUpperCase() as "GET",
            url: path.replaceAll(/\{\w+\}/g, "x"),
            headers: { origin: STRANGER, "sec-fetch-site": "cross-site", authorization: authorization() },
          });
          return `${method} ${path} ${statusCode}`;
        }),
    );
    expect((await Promise.all(answers)).filter((answer) => !answer.endsWith(" 403"))).toEqual([]);
  });

  it("sends a key that the page itself has, as Bearer", async () => {
    expect((await from("cross-site", STRANGER, authorization(ROOT_KEY, "bearer"))).statusCode).toBe(200);
  });
});
