import { gzipSync, deflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addKey } from "../helpers/add-key.ts";
import { describedRoutes } from "../helpers/openapi-document.ts";
import { authorization, ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let readKey: string;
beforeAll(async () => {
  test = await startApp();
  readKey = await addKey(test, ["read"], ["acme/*"]);
});
afterAll(() => test.close());

const ask = (body: unknown, as?: { key?: string; scheme?: "basic" | "bearer" }) =>
  test.post("/trace/usage", body, as);
const good = { project_id: "acme/x" };

describe("responses to", () => {
  it("no key: 401 with the schemes of the route", async () => {
    const response = await test.app.inject({ method: "POST", url: "/trace/usage", payload: good });
    expect([response.statusCode, response.headers["www-authenticate"], response.json()]).toEqual([
      401,
      'Basic realm="sumtree", charset="UTF-8", Bearer realm="sumtree"',
      { detail: "Authentication failed" },
    ]);
  });

  it.each(["st_000000000000_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG", "nonsense", ROOT_KEY.slice(0, -1)])(
    "a wrong key (%s): 401",
    async (key) => {
      expect((await ask(good, { key })).status).toBe(401);
      expect((await ask(good, { key, scheme: "bearer" })).status).toBe(401);
    },
  );

  it("a valid key: 200 with either scheme, in its projects", async () => {
    expect((await ask(good, { key: readKey })).status).toBe(200);
    expect((await ask(good, { key: readKey, scheme: "bearer" })).status).toBe(200);
  });

  it("a key of another project: 403, whether or not the project exists", async () => {
    for (const project_id of ["other/x", "acmee/x", "acme2/x"]) {
      const answer = await ask({ project_id }, { key: readKey });
      expect([answer.status, answer.json()]).toEqual([403, { detail: "This key may not use that project." }]);
    }
  });

  it("a key without the scope: 403", async () => {
    const answer = await test.post("/call/start", { start: {} }, { key: readKey });
    expect([answer.status, answer.json()]).toEqual([
      403,
      { detail: "This key does not have the scope ingest." },
    ]);
  });

  it("several issues: 422 with all of them and their locations", async () => {
    const answer = await ask({
      filter: { trace_ids: [1, "a", null], wat: 1 },
      include_costs: "yes",
      limit: 0,
      extra: true,
    });
    expect(answer.status).toBe(422);
    expect(
      answer.json().detail.map((issue: { loc: unknown; type: string }) => [issue.loc, issue.type]),
    ).toEqual([
      [["body", "project_id"], "missing"],
      [["body", "filter", "trace_ids", 0], "string_type"],
      [["body", "filter", "trace_ids", 2], "string_type"],
      [["body", "filter", "wat"], "extra_forbidden"],
      [["body", "include_costs"], "bool_type"],
      [["body", "limit"], "greater_than_equal"],
      [["body", "extra"], "extra_forbidden"],
    ]);
  });

  it.each([
    [0, "greater_than_equal"],
    [1_000_001, "less_than_equal"],
    [1.5, "int_from_float"],
    ["10", "int_parsing"],
    [null, "int_type"],
  ])("a limit of %j: 422 %s", async (limit, type) => {
    const answer = await ask({ ...good, limit });
    expect([answer.status, answer.json().detail]).toEqual([
      422,
      [{ loc: ["body", "limit"], msg: expect.any(String), type }],
    ]);
  });

  it.each(["{", "", "nope", '{"project_id":', "[1,]"])(
    "a body that is not an object (%j): 4xx with the reason",
    async (body) => {
      const answer = await ask(body);
      expect(answer.status).toBe(body === "" ? 422 : 400);
      expect(answer.text).toContain("detail");
    },
  );

  it.each([[[]], [5], ["text"], [null]])("a JSON body that is not an object (%j): 422", async (body) => {
    const answer = await ask(JSON.stringify(body));
    expect([answer.status, answer.json().detail[0].loc]).toEqual([422, ["body"]]);
  });

  it("a body too large, also only when decompressed: 413", async () => {
    const large = JSON.stringify({ ...good, filler: "x".repeat(2_000_000) });
    expect((await ask(large)).status).toBe(413);
    const bomb = await test.app.inject({
      method: "POST",
      url: "/trace/usage",
      headers: {
        authorization: authorization(),
        "content-type": "application/json",
        "content-encoding": "gzip",
      },
      payload: gzipSync(large),
    });
    expect([bomb.statusCode, bomb.json()]).toEqual([
      413,
      { detail: "Body exceeds the limit of this route." },
    ]);
  });

  it("a compressed body: the same as for a plain one", async () => {
    for (const [encoding, pack] of [
      ["gzip", gzipSync],
      ["deflate", deflateSync],
    ] as const) {
      const response = await test.app.inject({
        method: "POST",
        url: "/trace/usage",
        headers: {
          authorization: authorization(),
          "content-type": "application/json",
          "content-encoding": encoding,
        },
        payload: pack(JSON.stringify(good)),
      });
      expect(response.statusCode).toBe(200);
    }
  });

  it("a malformed or unknown compression: 4xx", async () => {
    for (const [encoding, status] of [
      ["gzip", 400],
      ["br", 415],
      ["zstd", 415],
    ] as const) {
      const response = await test.app.inject({
        method: "POST",
        url: "/trace/usage",
        headers: {
          authorization: authorization(),
          "content-type": "application/json",
          "content-encoding": encoding,
        },
        payload: "not packed",
      });
      expect([encoding, response.statusCode]).toEqual([encoding, status]);
    }
  });

  it("another media type on a route without a body: 415", async () => {
    const withoutBody = describedRoutes.filter(
      ({ path, method, operation }) =>
        !path.startsWith("/v1/") && method !== "GET" && operation.requestBody === undefined,
    );
    expect(withoutBody.length).toBeGreaterThan(2);
    for (const { path, method } of withoutBody) {
      const url = path.replaceAll(/\{\w+\}/g, "some");
      const headers = { authorization: authorization(), "content-type": "text/plain" };
      const response = await test.app.inject({ method, url, headers, payload: "text" });
      expect([path, response.statusCode]).toEqual([path, 415]);
    }
  });

  it("another media type: 415; none: parsed as JSON", async () => {
    const send = (headers: Record<string, string>) =>
      test.app.inject({
        method: "POST",
        url: "/trace/usage",
        headers: { authorization: authorization(), ...headers },
        payload: Buffer.from(JSON.stringify(good)),
      });
    expect((await send({ "content-type": "text/plain" })).statusCode).toBe(415);
    expect((await send({ "content-type": "application/x-www-form-urlencoded" })).statusCode).toBe(415);
    expect((await send({ "content-type": "application/json; charset=utf-8" })).statusCode).toBe(200);
    expect((await send({})).statusCode).toBe(200);
  });

  it("keys such as __proto__: an issue like any other unknown member", async () => {
    const answer = await ask(
      '{"project_id":"acme/x","__proto__":{"limit":1},"constructor":{"prototype":{}}}',
    );
    expect(answer.status).toBe(422);
    expect(answer.json().detail.map((issue: { type: string }) => issue.type)).toEqual(
      expect.arrayContaining(["extra_forbidden"]),
    );
  });
});
