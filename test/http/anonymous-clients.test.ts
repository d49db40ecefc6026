import { once } from "node:events";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { head, sendRaw } from "../helpers/raw-http.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const MAX_CONNECTIONS = 8;

let test: TestApp;
let port: number;
const opened: Socket[] = [];
beforeAll(async () => {
  test = await startApp({ settings: { MAX_CONNECTIONS: String(MAX_CONNECTIONS) } });
  await test.app.listen({ port: 0, host: "127.0.0.1" });
  ({ port } = test.app.server.address() as AddressInfo);
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await until(async () => (await count()) === 0);
});
afterAll(() => test.close());

const count = () => new Promise<number>((resolve) => test.app.server.getConnections((_, n) => resolve(n)));

async function open(bytes: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  opened.push(socket);
  await once(socket, "connect");
  socket.write(bytes);
  return socket;
}

/** Asks something small with a key, on a connection of its own. */
async function askWithKey(): Promise<number> {
  const body = '{"project_id":"a/b"}';
  const lines = ["POST /trace/usage HTTP/1.1", "Host: x", `Authorization: ${authorization()}`];
  const { socket, answer } = sendRaw(port, head(...lines, `Content-Length: ${body.length}`), body);
  opened.push(socket);
  return (await answer).status;
}

const announced = (first: string, ...more: readonly string[]): string =>
  head(`${first} HTTP/1.1`, "Host: x", "Content-Length: 600000", ...more);

describe("an anonymous request whose body does not arrive", () => {
  it.each([
    ["another method of a public route", announced("POST /healthz"), 405],
    ["a public route", announced("GET /healthz"), 200],
    ["nothing that there is", announced("POST /nothing"), 404],
    ["no route of the gateway", announced("POST /v1x/nothing"), 404],
    ["a route that needs a key", announced("POST /trace/usage"), 401],
    ["the same with a wrong key", announced("POST /trace/usage", "Authorization: Bearer wrong"), 401],
    ["the gateway", announced("POST /v1/chat/completions"), 401],
    ["with chunks", head("POST /healthz HTTP/1.1", "Host: x", "Transfer-Encoding: chunked"), 405],
    ["after a question", announced("POST /healthz", "Expect: 100-continue"), 405],
  ])("is answered before its body, and its connection is closed: %s", async (_what, bytes, status) => {
    const socket = await open(bytes);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    await once(socket, "close");
    const text = Buffer.concat(chunks).toString().replace("HTTP/1.1 100 Continue\r\n\r\n", "");
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(text.toLowerCase()).toContain("\r\nconnection: close\r\n");
  });

  it("receives the response even if it continues to send", async () => {
    const { answer, socket } = sendRaw(port, announced("POST /trace/usage"));
    opened.push(socket);
    socket.write(Buffer.alloc(600_000));
    expect(await answer).toMatchObject({ status: 401, complete: true });
  });
});

it("an anonymous request that is complete keeps its connection", async () => {
  const socket = await open("");
  for (const path of ["/healthz", "/nothing", "/api-keys"]) {
    socket.write(head(`GET ${path} HTTP/1.1`, "Host: x"));
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString().toLowerCase()).toContain("\r\nconnection: keep-alive\r\n");
  }
});

describe("anonymous connections above the limit", () => {
  it.each([
    ["say nothing", ""],
    ["send half a head", "GET / HTTP/1.1\r\nHost:"],
    ["have been answered", head("GET /healthz HTTP/1.1", "Host: x")],
    ["announce a body", announced("POST /healthz")],
    ["announce a body with a wrong key", announced("POST /trace/usage", "Authorization: Bearer wrong")],
  ])("are closed in favour of clients with a key, and not of each other: they %s", async (_what, bytes) => {
    const mine = await open("");
    const ask = head("GET /metrics HTTP/1.1", "Host: x", `Authorization: ${authorization()}`);
    let answers = 0;
    mine.on("data", (chunk: Buffer) => (answers += chunk.toString().split("HTTP/1.1 200").length - 1));
    mine.write(ask);
    await until(async () => answers === 1);
    for (let n = 0; n < 3 * MAX_CONNECTIONS; n++) await open(bytes);
    expect(await askWithKey()).toBe(200);
    mine.write(ask);
    await until(async () => answers === 2);
  });
});

describe("pipelined anonymous requests", () => {
  it("are not answered: the connection is closed after the first response", async () => {
    const socket = await open(head("GET /healthz HTTP/1.1", "Host: x").repeat(50));
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    await once(socket, "close");
    const text = Buffer.concat(chunks).toString();
    expect(text.split("HTTP/1.1 200 ")).toHaveLength(2);
    expect(text.toLowerCase()).toContain("\r\nconnection: close\r\n");
  });

  it("reach no route, for any number of them", async () => {
    const answered = async () => {
      const headers = { authorization: authorization() };
      const { payload } = await test.app.inject({ url: "/metrics", headers });
      return Number(
        /^sumtree_http_request_duration_seconds_count\{.*"\/healthz".*\} (\d+)$/m.exec(payload)![1],
      );
    };
    const before = await answered();
    const sent = Array.from({ length: 5 }, () => open(head("GET /healthz HTTP/1.1", "Host: x").repeat(2000)));
    for (const socket of await Promise.all(sent)) {
      socket.resume();
      await until(async () => socket.destroyed);
    }
    expect((await answered()) - before).toBeLessThan(50);
  });

  it("do not affect a waiting client that sends its body in chunks", async () => {
    const socket = (await open("")).setNoDelay();
    for (let n = 0; n < 20; n++) {
      const body = '{"project_id":"a/b"}';
      const lines = ["POST /trace/usage HTTP/1.1", "Host: x", `Authorization: ${authorization()}`];
      socket.write(head(...lines, `Content-Length: ${body.length}`));
      await new Promise((resolve) => setImmediate(resolve));
      socket.write(body.slice(0, 5));
      await new Promise((resolve) => setImmediate(resolve));
      socket.write(body.slice(5));
      const [answer] = (await once(socket, "data")) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /);
    }
  });
});
