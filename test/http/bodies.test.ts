import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import { deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { head, sendRaw, type RawExchange } from "../helpers/raw-http.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const MIB = 2 ** 20;
const CAPACITY = 80 * MIB;
const project_id = "acme/bodies";
const call = { project_id, id: "c", trace_id: "t", op_name: "o", started_at: "2026-01-01T00:00:00Z" };

let test: TestApp;
let port: number;
beforeAll(async () => {
  test = await startApp({ settings: { MAX_BODY_BYTES_IN_FLIGHT: String(CAPACITY) } });
  await test.app.listen({ port: 0, host: "127.0.0.1" });
  ({ port } = test.app.server.address() as AddressInfo);
});
afterAll(() => test.close());

const send = (url: string, payload: string | Buffer, headers: Record<string, string> = {}) =>
  test.app.inject({
    method: "POST",
    url,
    headers: { authorization: authorization(), "content-type": "application/json", ...headers },
    payload,
  });

/** A list as long as a body may be. */
function filled(before: string, part: string, after: string): string {
  const times = Math.floor((32 * MIB - before.length - after.length) / (part.length + 1));
  return `${before}${Array<string>(times).fill(part).join()}${after}`;
}
const ofCall = (member: string): [string, string] => [
  `{"batch":[${JSON.stringify(call).slice(0, -1)},"ended_at":"2026-01-01T00:00:01Z",${member}[`,
  "]}]}",
];
const batch = "/v2/acme/bodies/calls/complete";
const [before, after] = ofCall('"output":');
const ownKeys = Array.from({ length: 1_000_000 }, (_, n) => `"k${n}":0`).join();

describe("a body of the densest form", () => {
  it.each<[string, number, string, string | Buffer, Record<string, string>?]>([
    ["lists", 413, "/call/upsert_batch", filled("[", "[]", "]")],
    ["objects of a batch", 413, "/call/upsert_batch", filled('{"batch":[', "{}", "]}")],
    ["rows", 413, "/table/create", filled(`{"table":{"project_id":"${project_id}","rows":[`, "0", "]}}")],
    ["numbers", 413, batch, filled(before, "0", after)],
    ["long integers", 413, batch, filled(before, "12345678901234567", after)],
    ["keys with escapes", 413, batch, filled(before, String.raw`{"\n":0}`, after)],
    ["a million keys", 413, batch, `${before}{${ownKeys}}${after}`],
    ["levels", 413, batch, before + "[".repeat(10 * MIB) + "]".repeat(10 * MIB) + after],
    ["levels that are few enough to read", 200, batch, before + "[".repeat(9999) + "]".repeat(9999) + after],
    ["resources", 413, "/otel/v1/traces", `{"resourceSpans":[${"0,".repeat(300_000)}0]}`],
    [
      "updates",
      422,
      "/table/update",
      `{"project_id":"a/b","base_digest":"x","updates":[${"{},".repeat(150_000)}{}]}`,
    ],
    [
      "protobuf",
      413,
      "/otel/v1/traces",
      Buffer.alloc(32 * MIB, "\n\0"),
      { "content-type": "application/x-protobuf" },
    ],
    [
      "ids",
      422,
      "/trace/usage",
      `{"project_id":"${project_id}","filter":{"call_ids":[${"{},".repeat(340_000)}{}]}}`,
    ],
  ])("is refused or answered, briefly: %s, %i", async (_what, status, ...[url, payload, headers]) => {
    const response = await send(url, payload, { project_id, ...headers });
    expect([response.statusCode, response.rawPayload.length < 20_000]).toEqual([status, true]);
  });
});

describe("a body", () => {
  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
  ] as const)("packed with %s is bounded by what it becomes", async (encoding, pack) => {
    const packed = { "content-encoding": encoding };
    const good = pack(JSON.stringify({ start: call }));
    expect((await send("/call/start", good, packed)).statusCode).toBe(200);
    expect((await send("/call/start", pack(Buffer.alloc(40 * MIB)), packed)).statusCode).toBe(413);
    const protobuf = { ...packed, "content-type": "application/x-protobuf" };
    expect((await send("/otel/v1/traces", pack(Buffer.alloc(40 * MIB)), protobuf)).statusCode).toBe(413);
    expect((await send("/call/start", good.subarray(0, -9), packed)).statusCode).toBe(400);
  });

  it("is JSON without a media type, and refused with another", async () => {
    const body = JSON.stringify({ start: call });
    const lines = ["POST /call/start HTTP/1.1", "host: s", `authorization: ${authorization()}`];
    const sent = sendRaw(port, head(...lines, `content-length: ${body.length}`), body);
    expect(await sent.answer).toMatchObject({ status: 200 });
    expect((await send("/call/start", body, { "content-type": "text/plain" })).statusCode).toBe(415);
  });
});

describe("bytes of bodies in flight", () => {
  const begin = (sent: number): RawExchange => {
    const lines = [`POST ${batch} HTTP/1.1`, "host: s", `authorization: ${authorization()}`];
    return sendRaw(port, head(...lines, `content-length: ${32 * MIB}`), " ".repeat(sent));
  };
  const inFlight = async (): Promise<number> => {
    const headers = { authorization: authorization() };
    const { payload } = await test.app.inject({ url: "/metrics", headers });
    return Number(/^sumtree_limiter_in_use\{limiter="bodies"\} (\d+)$/m.exec(payload)?.[1]);
  };

  it("are counted as they come, refused above a limit, and released at the end", async () => {
    const open = Array.from({ length: 9 }, () => begin(8 * MIB));
    const texts = (): string[] => open.map(({ received }) => received().toString("latin1"));
    await until(() => texts().some((text) => text.startsWith("HTTP/1.1 503")));
    expect(await inFlight()).toBeGreaterThan(24 * MIB);
    expect(texts().find((text) => text !== "")).toMatch(/retry-after: \d/i);
    await Promise.all(
      open.map(async ({ socket }) => {
        socket.destroy();
        if (!socket.closed) await once(socket, "close");
      }),
    );
    await until(async () => (await inFlight()) === 0);
    expect((await send("/call/start", JSON.stringify({ start: call }))).statusCode).toBe(200);
  });

  it("are not those that a client declares", async () => {
    const open = Array.from({ length: 20 }, () => begin(1));
    expect((await send("/call/start", JSON.stringify({ start: call }))).statusCode).toBe(200);
    for (const { socket } of open) socket.destroy();
  });

  it("a body that is shorter than it says is an error", async () => {
    const lines = [`POST ${batch} HTTP/1.1`, "host: s", `authorization: ${authorization()}`];
    const socket = connect(port, "127.0.0.1");
    socket.end(head(...lines, "content-length: 99") + "{}");
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 400/);
  });
});
