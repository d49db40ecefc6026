import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { head, sendRaw } from "../helpers/raw-http.ts";
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

const TEXT = expect.any(String) as string;
const OURS = { detail: TEXT };
const OPENAI = {
  error: { message: TEXT, type: "invalid_request_error", param: null, code: "bad_request" },
  detail: TEXT,
};
const chunked = "Transfer-Encoding: chunked";

describe("a malformed request", () => {
  it.each([
    ["is not HTTP", "HELO example.org\r\n\r\n", 400, OPENAI],
    ["has an unknown version", "GET /v1/models HTTP/9.1\r\nHost: x\r\n\r\n", 400, OPENAI],
    ["has an unknown method", "FETCH /v1/models HTTP/1.1\r\nHost: x\r\n\r\n", 400, OPENAI],
    ["has a broken header", "GET /v1/models HTTP/1.1\r\nHost: x\r\nBro ken\r\n\r\n", 400, OPENAI],
    ["has no Host", "GET /healthz HTTP/1.1\r\n\r\n", 400, OURS],
    ["has no Host", "GET /v1/models HTTP/1.1\r\n\r\n", 400, OPENAI],
    ["has a broken path", "GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400, OURS],
    ["has a broken path", "GET /v1/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400, OPENAI],
    ["has a broken chunk", `POST /v1/responses HTTP/1.1\r\nHost: x\r\n${chunked}\r\n\r\nzz\r\n`, 400, OPENAI],
    [
      "has endless headers",
      `GET /v1/models HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(80_000)}\r\n\r\n`,
      431,
      OPENAI,
    ],
  ])(
    "that %s returns an error in the form of its path, with a request id",
    async (_what, bytes, status, body) => {
      expect(await send(bytes)).toEqual({ status, requestId: expect.stringMatching(/^[\w-]{8,}$/), body });
    },
  );

  it.each([
    ["two lengths", ["Content-Length: 1", "Content-Length: 2"]],
    ["a length beside chunks", [chunked, "Content-Length: 30"]],
    ["chunks twice", [chunked, chunked]],
    ["another coding last", ["Transfer-Encoding: chunked, identity"]],
    ["another coding first", ["Transfer-Encoding: gzip, chunked"]],
    ["another coding", ["Transfer-Encoding: identity"]],
    ["a name with a space", ["Transfer-Encoding : chunked"]],
    ["two Hosts", ["Host: y", "Content-Length: 0"]],
  ])("with %s is rejected alone, and nothing after it is read", async (_what, lines) => {
    const first = head(
      "POST /trace/usage HTTP/1.1",
      "Host: x",
      `Authorization: ${authorization()}`,
      ...lines,
    );
    const { socket, received } = sendRaw(port, first, "0\r\n\r\n", head("GET /healthz HTTP/1.1", "Host: x"));
    await once(socket, "close");
    expect(received().toString()).toMatch(/^HTTP\/1\.1 400 /);
    expect(received().toString()).not.toContain("HTTP/1.1 200");
  });
});

describe("another method of a known path", () => {
  it.each([
    ["GET", "/v2/acme/x/calls/complete/", "POST"],
    ["PATCH", "/api-keys", "GET, POST"],
    ["POST", "/api-keys/abc", "DELETE"],
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
