import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendRaw } from "../helpers/raw-http.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
let port: number;
beforeAll(async () => {
  test = await startApp();
  await test.app.listen({ port: 0, host: "127.0.0.1" });
  ({ port } = test.app.server.address() as AddressInfo);
});
afterAll(() => test.close());

async function send(bytes: string) {
  const { status, headers, body } = await sendRaw(port, bytes).answer;
  return { status, requestId: headers["x-request-id"], body: JSON.parse(body.toString()) as unknown };
}

describe("a malformed request", () => {
  it.each([
    ["is not HTTP", "HELO example.org\r\n\r\n", 400],
    ["has a broken header", "GET /healthz HTTP/1.1\r\nHost: x\r\nBro ken\r\n\r\n", 400],
    ["has a path that is not one", "GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400],
    [
      "has two lengths",
      "POST /trace/usage HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
      400,
    ],
    ["has headers without end", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(80_000)}\r\n\r\n`, 431],
  ])("that %s returns an error in JSON with a request id", async (_what, bytes, status) => {
    const answer = await send(bytes);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ detail: expect.any(String) });
    expect(answer.requestId).toMatch(/^[\w-]{8,}$/);
  });

  it.each([
    ["is not HTTP", "GET /v1/models HTTP/9.1\r\nHost: x\r\n\r\n", 400],
    ["has a method that nobody knows", "FETCH /v1/models HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["has no Host", "GET /v1/models HTTP/1.1\r\n\r\n", 400],
    ["has a path that is not one", "GET /v1/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400],
    [
      "has a broken chunk",
      "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      400,
    ],
    [
      "has headers without end",
      `GET /v1/models HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(80_000)}\r\n\r\n`,
      431,
    ],
  ])("that %s returns an error in OpenAI's format under /v1", async (_what, bytes, status) => {
    const answer = await send(bytes);
    expect(answer).toEqual({
      status,
      requestId: expect.stringMatching(/^[\w-]{8,}$/),
      body: {
        error: {
          message: expect.any(String),
          type: "invalid_request_error",
          param: null,
          code: "bad_request",
        },
        detail: expect.any(String),
      },
    });
  });

  it("without Host returns 400 with the reason", async () => {
    expect(await send("GET /healthz HTTP/1.1\r\n\r\n")).toMatchObject({
      status: 400,
      requestId: expect.any(String),
      body: { detail: "The request has no Host." },
    });
    expect((await send("GET /healthz HTTP/1.0\r\n\r\n")).status).toBe(200);
  });
});

it("with an unknown expectation is accepted", async () => {
  const bytes = "GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n";
  expect((await send(bytes)).status).toBe(200);
});

describe("another method of a known path", () => {
  it.each([
    ["GET", "/v2/acme/x/calls/complete", "POST"],
    ["GET", "/v2/acme/x/calls/complete/", "POST"],
    ["PATCH", "/api-keys", "GET, POST"],
    ["POST", "/api-keys/abc", "DELETE"],
    ["GET", "/trace/usage?x=1", "POST"],
  ] as const)("%s %s is 405 and tells what is allowed", async (method, url, allow) => {
    const response = await test.app.inject({ method, url, headers: { authorization: authorization() } });
    expect([response.statusCode, response.headers["allow"]]).toEqual([405, allow]);
    expect(response.json()).toEqual({ detail: `This route accepts ${allow}.` });
    expect(response.headers["x-request-id"]).toBeDefined();
  });
  it("an unknown path returns 404", async () => {
    for (const url of ["/v2/acme/x/calls/nothing", "/nothing", "/api-keys/a/b", "//nothing"]) {
      const response = await test.app.inject({ url });
      expect([url, response.statusCode, response.json()]).toEqual([
        url,
        404,
        { detail: "No route for this path." },
      ]);
    }
  });
});
