import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { head, sendRaw, type RawExchange } from "../helpers/raw-http.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { startGateway, startSecondApp, type SecondApp, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway({ settings: { UPLOAD_IDLE_TIMEOUT_MS: "300" } });
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

/** How soon the upstream has to know. */
const SOON_MS = 100;

async function openRequests(port = test.port): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, {
    headers: { authorization: `Bearer ${ROOT_KEY}` },
  });
  return Number(/sumtree_gateway_open_requests (\d+)/.exec(await response.text())![1]);
}

function post(path: string, body: string, ...headers: readonly string[]): RawExchange {
  const lines = [`POST ${path} HTTP/1.1`, "host: g", `authorization: Bearer ${ROOT_KEY}`, ...headers];
  return sendRaw(test.port, head(...lines, `content-length: ${Buffer.byteLength(body)}`), body);
}

const messages = '"messages":[{"role":"user","content":"hi"}]';

describe.each([
  ["not recorded", []],
  ["recorded", ["openai-project: acme/aborts"]],
])("a client that leaves (%s)", (_what, headers) => {
  it.each([
    ["while the upstream has not begun to answer", `{${messages},"stream":true}`, "silence"],
    ["while a completion that is not streamed is made", `{${messages}}`, "silence"],
    [
      "in the middle of a stream",
      `{${messages},"stream":true,"max_tokens":1000,"vllm_xargs":{"delay_ms":20}}`,
      "none",
    ],
  ])("%s frees the upstream and its place at once", async (_when, body, fault) => {
    if (fault === "silence") test.upstream.fail({ kind: "silence", ms: 60_000 });
    const { socket, received } = post("/v1/chat/completions", body, ...headers);
    await until(() => test.upstream.seen[0]?.bodySha256 !== undefined && test.upstream.seen[0].bodyBytes > 0);
    if (fault === "none") await until(() => received().includes("data: "));
    expect(await openRequests()).toBe(1);

    const left = performance.now();
    socket.destroy();
    expect(await test.upstream.seen[0]!.left).toBe(true);
    expect(performance.now() - left).toBeLessThan(SOON_MS);
    await until(async () => (await openRequests()) === 0);
  });

  it("in the middle of its upload frees the upstream and its place at once", async () => {
    const path = headers.length === 0 ? "/v1/preview/training-jobs" : "/v1/chat/completions";
    const lines = [`POST ${path} HTTP/1.1`, "host: g", `authorization: Bearer ${ROOT_KEY}`, ...headers];
    const { socket } = sendRaw(test.port, head(...lines, "content-length: 50000000"), "x".repeat(6_000_000));
    await until(() => test.upstream.seen.length === 1);
    const left = performance.now();
    socket.destroy();
    expect(await test.upstream.seen[0]!.left).toBe(true);
    expect(performance.now() - left).toBeLessThan(SOON_MS);
    await until(async () => (await openRequests()) === 0);
  });
});

describe("a client that leaves while its request waits for a connection", () => {
  let stuck: Server;
  let sockets: Socket[];
  let gateway: SecondApp;
  beforeAll(async () => {
    sockets = [];
    // takes connections and never says a word of TLS
    stuck = createServer((socket) => void sockets.push(socket.on("error", () => undefined)));
    await new Promise<void>((resolve) => stuck.listen(0, "127.0.0.1", resolve));
    const { port } = stuck.address() as AddressInfo;
    gateway = await startSecondApp(test, {
      TRAINING_UPSTREAM_URL: `https://127.0.0.1:${port}/v1`,
      UPSTREAM_CONNECT_TIMEOUT_MS: "1200",
    });
  });
  afterAll(async () => {
    await gateway.close();
    for (const socket of sockets) socket.destroy();
    stuck.close();
  });

  it("frees its place at once, and is never sent", async () => {
    const body = `{${messages}}`;
    const { socket } = sendRaw(
      gateway.port,
      head(
        "POST /v1/chat/completions HTTP/1.1",
        "host: g",
        `authorization: Bearer ${ROOT_KEY}`,
        `content-length: ${body.length}`,
      ),
      body,
    );
    await until(() => sockets.length === 1);
    expect(await openRequests(gateway.port)).toBe(1);
    const left = performance.now();
    socket.destroy();
    await until(async () => (await openRequests(gateway.port)) === 0);
    expect(performance.now() - left).toBeLessThan(SOON_MS);
    // the greeting of TLS, and nothing else
    expect(sockets[0]!.bytesRead).toBeLessThan(2000);
  });

  it("and one that stays is told that the upstream did not take it, in time", async () => {
    const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/preview/base-models`, {
      headers: { authorization: `Bearer ${ROOT_KEY}` },
    });
    expect([response.status, await response.json()]).toMatchObject([
      504,
      { error: { code: "upstream_timeout" } },
    ]);
  });
});

describe("a client that stays", () => {
  it("is never taken for one that has left, though its body has been read long ago", async () => {
    test.upstream.fail({ kind: "silence", ms: 400 });
    const answer = await post("/v1/chat/completions", `{${messages}}`).answer;
    expect([answer.status, answer.complete]).toEqual([200, true]);
    expect(await test.upstream.seen[0]!.left).toBe(false);
  });

  it("but stops in the middle of its upload is told so, and the upstream let go", async () => {
    const { answer } = sendRaw(
      test.port,
      head(
        "POST /v1/preview/training-jobs HTTP/1.1",
        "host: g",
        `authorization: Bearer ${ROOT_KEY}`,
        "content-length: 1000000",
      ),
      "x".repeat(10_000),
    );
    expect(await answer).toMatchObject({ status: 400, complete: true });
    expect(await test.upstream.seen[0]!.left).toBe(true);
  });

  it("keeps its connection, and the gateway its own, over many requests", async () => {
    const before = test.upstream.connections();
    for (let n = 0; n < 20; n++) {
      const response = await fetch(`${test.baseUrl}/preview/base-models`, {
        headers: { authorization: `Bearer ${ROOT_KEY}` },
      });
      await response.arrayBuffer();
    }
    expect(test.upstream.connections()).toBeLessThanOrEqual(Math.max(before, 1));
  });
});
