import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { Agent, fetch } from "undici";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Fault } from "../helpers/reference-upstream/faults.ts";
import { isLong } from "../helpers/runs.ts";
import { bearer, sendTo, startGateway, startSecondApp, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

const LIMIT = 2 ** 20;
let test: TestGateway;
beforeAll(async () => {
  test = await startGateway({
    settings: { UPSTREAM_FIRST_BYTE_TIMEOUT_MS: "2500", TRAINING_BODY_LIMIT_BYTES: String(LIMIT) },
  });
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

const JOB = '{"model_id":"m","trajectory_groups":[]}';
const POST_JOB = ["POST /preview/training-jobs", JOB] as const;
const CHAT = ["POST /chat/completions", '{"model":"m","messages":[]}'] as const;

/** A client without limits of its own. */
const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
afterAll(() => patient.close());

type Body = string | AsyncGenerator<Buffer>;

function ask([line, body]: readonly [string, Body?], base = test.baseUrl) {
  const [method = "", path = ""] = line.split(" ");
  return fetch(base + path, {
    dispatcher: patient,
    method,
    headers: { ...bearer, "content-type": "application/json" },
    ...(body === undefined ? {} : { body, duplex: "half" as const }),
  });
}

describe("an upstream that fails before its response", () => {
  it.each<[string, Fault, number, string]>([
    ["resets the connection", { kind: "reset" }, 502, "upstream_broken"],
    ["is silent for too long", { kind: "silence", ms: 10_000 }, 504, "upstream_timeout"],
    ["does not speak HTTP", { kind: "socket", bytes: "SSH-2.0-x\r\n\r\n" }, 502, "upstream_invalid"],
  ])(
    "and %s is asked once, and a retry advised against if a job may have begun",
    async (_how, fault, status, code) => {
      test.upstream.fail(fault, 5);
      const asked = [
        [POST_JOB, "false"],
        [["POST /%70review//training-jobs", JOB], "false"],
        [["GET /preview/training-jobs/j/events"], null],
        [["POST /training/runs/r1/forward", '{"request_id":"1"}'], null],
        [CHAT, null],
      ] as const;
      await Promise.all(
        asked.map(async ([request, repeat]) => {
          const response = await ask(request);
          expect([response.status, response.headers.get("x-should-retry")]).toEqual([status, repeat]);
          expect(await response.json()).toEqual({
            error: { message: expect.any(String), type: "upstream_error", param: null, code },
            detail: expect.any(String),
          });
          expect(response.headers.get("x-request-id")).toBeTruthy();
        }),
      );
      expect(test.upstream.seen).toHaveLength(asked.length);
    },
  );
});

/** A long run goes beyond every limit of 300 s that the parts bring along; 1200 s are allowed. */
const silenceMs = isLong ? 310_000 : 300;
it(
  `by default, the first byte and the next one may take ${silenceMs} ms`,
  { timeout: silenceMs + 60_000 },
  async () => {
    const app = await startSecondApp(test, {});
    test.upstream.fail({ kind: "silence", ms: silenceMs });
    const late = ask(CHAT, `${app.url}/v1`);
    await until(() => test.upstream.seen.length === 1);
    test.upstream.fail({ kind: "stall", afterEvents: 3, ms: silenceMs });
    const stalled = ask([CHAT[0], '{"stream":true,"messages":[]}'], `${app.url}/v1`);
    expect((await late).status).toBe(200);
    expect((await (await stalled).text()).endsWith("data: [DONE]\n\n")).toBe(true);
    await app.close();
  },
);

describe("an upstream's own error", () => {
  const detail = '{"detail":[{"loc":["body","n"],"msg":"too many","type":"less_than_equal"}]}';
  const error = '{"error":{"message":"n: too many","type":"invalid_request_error","param":"n","code":null},';
  const slow = '{"error":{"message":"slow down"}}';
  const timeout = "A timeout occurred";
  const GZIP = { "content-encoding": "gzip" };
  const html = { "content-type": "text/html", "x-should-retry": "false" };
  const shown = { message: timeout, type: "upstream_error", param: null, code: null };
  const limits = {
    "retry-after": "120",
    "retry-after-ms": "120000",
    "x-should-retry": "true",
    "x-ratelimit-remaining-tokens": "0",
    "x-request-id": "req_upstream",
  };
  it.each<[string, Omit<Extract<Fault, { kind: "answer" }>, "kind">, (string | Uint8Array)?]>([
    ["has the form that SDKs read, with its detail", { status: 422, body: detail }, error + detail.slice(1)],
    [
      "in HTML is text in that form",
      { status: 524, body: `<h1>${timeout}</h1>`, headers: html },
      JSON.stringify({ error: shown, detail: timeout }),
    ],
    ["in that form passes, with limits, advice and its id", { status: 429, body: slow, headers: limits }],
    ["that is compressed passes", { status: 400, body: gzipSync(slow), headers: GZIP }],
  ])("%s", async (_what, fault, body = fault.body) => {
    test.upstream.fail({ kind: "answer", ...fault });
    const response = await sendTo(test, "POST /v1/chat/completions", [], CHAT[1]).answer;
    expect([response.status, response.body]).toEqual([fault.status, Buffer.from(body)]);
    expect(response.headers).toMatchObject({ ...fault.headers, "content-type": "application/json" });
  });
});

describe("an upload of unknown length", () => {
  const PART = Buffer.alloc(100_000, "0123456789");

  /** Sends a part, and `more` once the upstream has the request. */
  function upload(more: () => AsyncGenerator<Buffer>) {
    async function* parts() {
      yield PART;
      await until(() => test.upstream.seen.length === 1);
      yield* more();
    }
    return ask([POST_JOB[0], parts()]);
  }

  it("that exceeds the limit is rejected while it is sent, and closed upstream", async () => {
    const response = await upload(async function* () {
      while (true) yield PART;
    });
    expect(response.status).toBe(413);
    expect(await test.upstream.seen[0]!.left).toBe(true);
  });

  it("is sent once, and the error reported, if the upstream resets during it", async () => {
    const response = await upload(async function* () {
      test.upstream.dropConnections();
      yield PART;
      await new Promise(() => undefined);
    });
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([502, "false"]);
    expect(await response.json()).toMatchObject({ error: { code: "upstream_broken" } });
    expect(test.upstream.seen).toHaveLength(1);
  });
});

it("an upstream that responds before it has read the request is relayed, although the client is still sending", async () => {
  const server = createServer((_request, response) => {
    response.writeHead(413, { "content-type": "application/json" }).end('{"detail":"too much"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const app = await startSecondApp(test, { TRAINING_UPSTREAM_URL: `http://127.0.0.1:${port}/v1` });
  for (const [line] of [POST_JOB, CHAT]) {
    const response = await ask([line, "x".repeat(20_000_000)], `${app.url}/v1`);
    expect([response.status, await response.json()]).toMatchObject([413, { detail: "too much" }]);
  }
  await app.close();
  server.close();
});

it("a request that is incomplete when the service stops is rejected in OpenAI's format", async () => {
  const app = await startSecondApp(test, {});
  const [line, body] = CHAT;
  const lines = [`content-length: ${body.length}`];
  const { socket, answer } = sendTo(app, line.replace(" ", " /v1"), lines, body.slice(0, 5));
  const metrics = async () => (await fetch(`${app.url}/metrics`, { headers: bearer })).text();
  await until(async () => /open_requests 2/.test(await metrics()));
  const closed = app.close();
  socket.write(body.slice(5));
  const { status, headers, body: said } = await answer;
  await closed;
  const message = "The gateway is stopping.";
  expect([status, headers["retry-after"], headers["connection"], JSON.parse(said.toString())]).toEqual([
    503,
    "1",
    "close",
    { error: { message, type: "server_error", param: null, code: "service_overloaded" }, detail: message },
  ]);
});
