import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

describe("GET /readyz", () => {
  it.each(["/readyz", "/readyz/reads", "/readyz/writes"])(
    "returns 200 if the store responds and is migrated: %s",
    async (url) => {
      const response = await test.app.inject(url);
      expect([response.statusCode, response.json()]).toEqual([
        200,
        { status: "ok", reads: "ok", writes: "ok" },
      ]);
    },
  );
});

describe("probes that send HEAD", () => {
  it.each(["/healthz", "/readyz", "/openapi.json"])("%s: 200 and no body", async (url) => {
    const response = await test.app.inject({ method: "HEAD", url });
    expect([response.statusCode, response.payload]).toEqual([200, ""]);
  });
  it("/metrics: not without a key", async () => {
    const { app } = test;
    expect((await app.inject({ method: "HEAD", url: "/metrics" })).statusCode).toBe(401);
    const authorized = { authorization: authorization() };
    expect((await app.inject({ method: "HEAD", url: "/metrics", headers: authorized })).statusCode).toBe(200);
  });
});

describe("unknown routes", () => {
  it("return 404, and 405 for another method of a known path", async () => {
    expect((await test.app.inject("/nothing")).statusCode).toBe(404);
    const other = await test.app.inject({ method: "DELETE", url: "/healthz" });
    expect([other.statusCode, other.headers["allow"]]).toEqual([405, "GET, HEAD"]);
  });
  it("return the client's request id if it is valid, else a generated one", async () => {
    const sane = await test.app.inject({ url: "/nothing", headers: { "x-request-id": "abc-1" } });
    expect(sane.headers["x-request-id"]).toBe("abc-1");
    const odd = await test.app.inject({ url: "/nothing", headers: { "x-request-id": "a b<c>" } });
    expect(odd.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  });
});
