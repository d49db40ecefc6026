import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, fetch } from "undici";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { head, sendRaw } from "../helpers/raw-http.ts";
import type { Fault } from "../helpers/reference-upstream/faults.ts";
import { isLong } from "../helpers/runs.ts";
import {
  bearer,
  startGateway,
  startSecondApp,
  type SecondApp,
  type TestGateway,
} from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway({
    settings: { UPSTREAM_FIRST_BYTE_TIMEOUT_MS: "2500", UPSTREAM_IDLE_TIMEOUT_MS: "2500" },
  });
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

const POST_JOB = ["POST", "/preview/training-jobs", '{"model_id":"m","trajectory_groups":[]}'] as const;
const GET_EVENTS = ["GET", "/preview/training-jobs/j/events", undefined] as const;
const CHAT = ["POST", "/chat/completions", '{"model":"m","messages":[]}'] as const;

/** A client without limits of its own. */
const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
afterAll(() => patient.close());

async function metricsOf(app: SecondApp): Promise<string> {
  return (await fetch(`${app.url}/metrics`, { headers: bearer })).text();
}

function ask([method, path, body]: readonly [string, string, string | undefined], base = test.baseUrl) {
  return fetch(base + path, {
    dispatcher: patient,
    method,
    headers: { ...bearer, "content-type": "application/json" },
    ...(body === undefined ? {} : { body }),
  });
}

const garbage: Fault = { kind: "socket", bytes: "SSH-2.0-OpenSSH_9.9\r\n\r\n" };

describe("an upstream that fails before its response", () => {
  it.each([
    ["resets the connection", { kind: "reset" }, 502, "upstream_broken"],
    ["is silent for too long", { kind: "silence", ms: 10_000 }, 504, "upstream_timeout"],
    ["does not speak HTTP", garbage, 502, "upstream_invalid"],
  ] as const)(
    "and %s leads to %s, without retries, and advises against a retry of what may have begun",
    async (_what, fault, status, code) => {
      test.upstream.fail(fault, 3);
      const asked = [
        [POST_JOB, "false"],
        [GET_EVENTS, null],
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

  it("is awaited up to the configured timeout", async () => {
    test.upstream.fail({ kind: "silence", ms: 600 });
    expect((await ask(CHAT)).status).toBe(200);
  });
});

describe("with default settings", () => {
  /** A long run goes beyond every limit of 300 s that the parts bring along; 1200 s are allowed. */
  const silenceMs = isLong ? 310_000 : 300;

  it(
    `the first byte and the next one may take ${silenceMs} ms`,
    { timeout: silenceMs + 60_000 },
    async () => {
      const app = await startSecondApp(test, {});
      try {
        const stream = '{"stream":true,"messages":[]}';
        test.upstream.fail({ kind: "silence", ms: silenceMs });
        const late = ask(CHAT, `${app.url}/v1`);
        await until(() => test.upstream.seen.length === 1);
        test.upstream.fail({ kind: "stall", afterEvents: 3, ms: silenceMs });
        const stalled = ask(["POST", "/chat/completions", stream], `${app.url}/v1`);
        expect((await late).status).toBe(200);
        expect((await (await stalled).text()).endsWith("data: [DONE]\n\n")).toBe(true);
      } finally {
        await app.close();
      }
    },
  );
});

describe("an upstream's own errors", () => {
  const detail = '{"detail":[{"loc":["body","n"],"msg":"too many","type":"less_than_equal"}]}';
  it("keep their status and detail, and have the format that SDKs read", async () => {
    test.upstream.fail({ kind: "answer", status: 422, body: detail });
    const response = await ask(CHAT);
    expect([response.status, await response.text()]).toEqual([
      422,
      `{"error":{"message":"n: too many","type":"invalid_request_error","param":"n","code":null},${detail.slice(1)}`,
    ]);
  });

  it("of an edge server in HTML keep their status, as text in an envelope", async () => {
    const headers = { "content-type": "text/html", "x-should-retry": "false" };
    test.upstream.fail({ kind: "answer", status: 524, body: "<h1>A timeout occurred</h1>", headers });
    const response = await ask(POST_JOB);
    expect([response.status, response.headers.get("x-should-retry"), await response.json()]).toMatchObject([
      524,
      "false",
      { error: { message: "A timeout occurred" }, detail: "A timeout occurred" },
    ]);
    expect(response.headers.get("content-type")).toBe("application/json");
  });

  it("keep retry advice, rate limits and the request id", async () => {
    const headers = {
      "retry-after": "120",
      "retry-after-ms": "120000",
      "x-should-retry": "true",
      "x-ratelimit-remaining-tokens": "0",
      "x-request-id": "req_upstream",
    };
    test.upstream.fail({ kind: "answer", status: 429, body: '{"error":{"message":"slow down"}}', headers });
    const response = await ask(CHAT);
    expect(Object.fromEntries(response.headers)).toMatchObject(headers);
    expect([response.status, await response.text()]).toEqual([429, '{"error":{"message":"slow down"}}']);
  });

  it("allow a retry of requests with an idempotency key", async () => {
    test.upstream.fail({ kind: "reset" });
    const response = await ask(["POST", "/training/runs/r1/forward", '{"request_id":"1"}']);
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([502, null]);
  });
});

describe("an upload of unknown length", () => {
  const LIMIT = 2 ** 20;
  const PART = Buffer.alloc(100_000, "0123456789");
  let app: SecondApp;
  beforeAll(async () => {
    app = await startSecondApp(test, { TRAINING_BODY_LIMIT_BYTES: String(LIMIT) });
  });
  afterAll(() => app.close());

  /** Sends a part, and `more` once the upstream has the request. */
  function upload(more: () => AsyncGenerator<Buffer>) {
    async function* parts() {
      yield PART;
      await until(() => test.upstream.seen.length === 1);
      yield* more();
    }
    return fetch(`${app.url}/v1/preview/training-jobs`, {
      dispatcher: patient,
      method: "POST",
      headers: { ...bearer, "content-type": "application/json" },
      body: parts(),
      duplex: "half",
    });
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
    expect([response.status, response.headers.get("x-should-retry"), await response.json()]).toMatchObject([
      502,
      "false",
      { error: { code: "upstream_broken" } },
    ]);
    expect(test.upstream.seen).toHaveLength(1);
  });
});

describe("an upstream that responds before it has read the request", () => {
  it("is relayed although the client is still sending", async () => {
    const server = createServer((_request, response) => {
      response.writeHead(413, { "content-type": "application/json" });
      response.end('{"detail":"too much"}');
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const app = await startSecondApp(test, { TRAINING_UPSTREAM_URL: `http://127.0.0.1:${port}/v1` });
    try {
      const body = "x".repeat(20_000_000);
      for (const [method, path] of [POST_JOB, CHAT]) {
        const response = await ask([method, path, body], `${app.url}/v1`);
        expect([response.status, await response.json()]).toMatchObject([413, { detail: "too much" }]);
      }
    } finally {
      await app.close();
      server.close();
    }
  });
});

it("a request that is incomplete when the service stops is rejected in OpenAI's format", async () => {
  const app = await startSecondApp(test, {});
  const [method, path, body] = CHAT;
  const request = head(
    `${method} /v1${path} HTTP/1.1`,
    "Host: x",
    `Authorization: ${bearer.authorization}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  );
  const { socket, answer } = sendRaw(app.port, request, body.slice(0, 5));
  await until(async () => /open_requests 2/.test(await metricsOf(app)));
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
