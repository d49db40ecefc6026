import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";

import {
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  type BrotliCompress,
  type Gzip,
  type ZstdCompress,
} from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { splitAt } from "../helpers/random-splits.ts";
import { head, sendRaw, type RawExchange } from "../helpers/raw-http.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { startGateway, startSecondApp, type SecondApp, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway({
    settings: {
      UPSTREAM_FIRST_BYTE_TIMEOUT_MS: "3000",
      UPSTREAM_IDLE_TIMEOUT_MS: "3000",
    },
    upstream: { usageByDefault: false },
  });
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

const DONE = "data: [DONE]\n\n";
const chunk = (content: string): string =>
  `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}]}\n\n`;

/** A streamed completion over a bare socket; `headers` to name a project. */
function stream(...headers: readonly string[]): RawExchange {
  return streamFrom(test.port, ...headers);
}

function streamFrom(port: number, ...headers: readonly string[]): RawExchange {
  const body = '{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}';
  const lines = ["POST /v1/chat/completions HTTP/1.1", "host: g", `authorization: Bearer ${ROOT_KEY}`];
  return sendRaw(port, head(...lines, `content-length: ${body.length}`, ...headers), body);
}

const RECORDED = "openai-project: acme/streams";

function play(
  chunks: Iterable<string | Uint8Array | number | Promise<unknown>>,
  ending: "end" | "reset" | "hang" = "end",
): void {
  test.upstream.fail({ kind: "bytes", chunks, ending });
}

/** Compresses events one at a time, as a server flushes them. */
async function packed(
  packer: Gzip | BrotliCompress | ZstdCompress,
  events: readonly string[],
): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for (const event of events) {
    packer.write(event);
    await new Promise<void>((resolve) => packer.flush(resolve));
    pieces.push(packer.read() as Buffer);
  }
  return pieces;
}

describe("a stream", () => {
  it("passes byte for byte, for any chunks, recorded or not", async () => {
    const event = fc.constantFrom(
      chunk("naïve 🌲"),
      chunk("b").replaceAll("\n", "\r\n"),
      chunk("c").replace("data: ", "data:"),
      ": comment\n\n",
      "id: 7\ndata: {}\n\n",
      "retry: 5\n\n",
      "event: x\n\n",
      "data:\n\n",
      "data: {\ndata: }\n\n",
      "data: not json\n\n",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.boolean(),
        async (events, cuts, recorded) => {
          const bytes = Buffer.from(events.join("") + DONE);
          play(splitAt(bytes, cuts).filter((part) => part.length > 0));
          const response = await stream(...(recorded ? [RECORDED] : [])).answer;
          expect([response.status, response.complete]).toEqual([200, true]);
          expect(response.body.toString()).toBe(bytes.toString());
        },
      ),
      { seed: chosenSeed(), numRuns: runs(20, 500) },
    );
  });

  it("arrives event by event, without delay", async () => {
    const [second, third] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    play([chunk("a"), second.promise, chunk("b"), third.promise, DONE]);
    const { received, answer } = stream();
    await until(() => received().includes(chunk("a")));
    second.resolve();
    await until(() => received().includes(chunk("b")));
    third.resolve();
    expect((await answer).complete).toBe(true);
  });

  it("has its headers before its first event", async () => {
    const first = Promise.withResolvers<void>();
    play([first.promise, chunk("a"), DONE]);
    const { received, answer } = stream();
    await until(() => received().includes("\r\n\r\n"));
    first.resolve();
    await answer;
  });

  it("forbids caching and buffering", async () => {
    play([chunk("a"), DONE]);
    const { headers } = await stream().answer;
    expect(headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
      "x-request-id": expect.any(String),
    });
  });

  it("ends properly if the end marker lacks its blank line", async () => {
    play([chunk("a"), "data: [DONE]\n"]);
    const response = await stream().answer;
    expect([response.complete, response.body.toString()]).toEqual([true, `${chunk("a")}data: [DONE]\n`]);
  });

  it("of another protocol passes unchanged, without an end marker", async () => {
    const events = "event: thread.created\ndata: {}\n\nevent: thread.done\ndata: {}\n\n";
    play([events]);
    const { answer } = sendRaw(
      test.port,
      head("GET /v1/models/m HTTP/1.1", "host: g", `authorization: Bearer ${ROOT_KEY}`),
    );
    expect(await answer).toMatchObject({ complete: true, body: Buffer.from(events) });
  });
});

describe("a response of an unexpected form", () => {
  it("passes unchanged: JSON for a stream, another media type, or none", async () => {
    const json = '{"id":"c","choices":[{"message":{"content":"1.0"}}]}';
    for (const headers of [RECORDED, "x-nothing: 1"]) {
      test.upstream.fail({ kind: "answer", status: 200, body: json });
      const asJson = await stream(headers).answer;
      expect([asJson.headers["content-type"], asJson.body.toString()]).toEqual(["application/json", json]);

      test.upstream.fail({
        kind: "answer",
        status: 200,
        body: json,
        headers: { "content-type": "text/plain" },
      });
      const asText = await stream(headers).answer;
      expect([asText.headers["content-type"], asText.body.toString()]).toEqual(["text/plain", json]);

      test.upstream.fail({
        kind: "socket",
        bytes: `HTTP/1.1 200 OK\r\ncontent-length: ${json.length}\r\n\r\n${json}`,
      });
      const asNothing = await stream(headers).answer;
      expect([asNothing.headers["content-type"], asNothing.body.toString()]).toEqual([undefined, json]);
    }
  });

  it("that is compressed passes byte for byte, as it arrives", async () => {
    const events = [chunk("a"), chunk("b"), DONE];
    const packers = { gzip: createGzip(), br: createBrotliCompress(), zstd: createZstdCompress() };
    for (const [encoding, packer] of Object.entries(packers)) {
      const pieces = await packed(packer, events);
      const turns = events.map(() => Promise.withResolvers<void>());
      const chunks = pieces.flatMap((piece, at) => [turns[at]!.promise, piece]);
      test.upstream.fail({ kind: "bytes", chunks, headers: { "content-encoding": encoding }, ending: "end" });
      const { received, answer } = stream(RECORDED);
      await until(() => received().includes("\r\n\r\n"));
      for (const turn of turns) {
        const before = received().length;
        turn.resolve();
        await until(() => received().length > before);
      }
      const { complete, headers, body } = await answer;
      const sent = Buffer.concat(pieces);
      expect([complete, headers["content-encoding"], body.equals(sent)]).toEqual([true, encoding, true]);
    }
  });
});

describe("keep-alive comments", () => {
  let app: SecondApp;
  beforeAll(async () => {
    app = await startSecondApp(test, { SSE_KEEP_ALIVE_SECONDS: "0.2" });
  });
  afterAll(() => app.close());

  it("are sent only between events, while the upstream is silent", async () => {
    const [first, second] = [chunk("a"), chunk("b")];
    play([first, 500, second.slice(0, 20), 500, second.slice(20), DONE]);
    const response = await streamFrom(app.port).answer;
    const text = response.body.toString();
    expect(text.replaceAll(": keep-alive\n\n", "")).toBe(first + second + DONE);
    expect(text.split("\n\n").filter((part) => part === ": keep-alive").length).toBeGreaterThanOrEqual(3);
  });

  it("are not sent once an event had an id, because some SDKs would read them as events", async () => {
    const events = `id: 1\n${chunk("a")}`;
    play([events, 700, DONE]);
    expect((await streamFrom(app.port).answer).body.toString()).toBe(events + DONE);
  });
});

describe("a stream that the upstream aborts", () => {
  const frame = /data: (\{"error":\{.*\}\})\n\n$/;

  it.each([
    ["by a reset", [chunk("a"), 20], "reset"],
    ["in the middle of an event", [chunk("a"), 'data: {"id":"c","cho', 20], "reset"],
    ["in good order, without the end marker", [chunk("a")], "end"],
    ["in good order, in the middle of an event", [chunk("a"), "data: {"], "end"],
    ["by silence", [chunk("a")], "hang"],
    ["before its first event", [20], "reset"],
  ] as const)("%s ends with an error event and a broken transfer", async (_how, chunks, ending) => {
    play(chunks, ending);
    const response = await stream(RECORDED).answer;
    const text = response.body.toString();
    expect([response.status, response.complete]).toEqual([200, false]);
    expect(text.replace(frame, "")).toBe(chunks.includes(chunk("a") as never) ? chunk("a") : "");
    expect(JSON.parse(frame.exec(text)![1]!)).toEqual({
      error: {
        message: expect.any(String),
        type: "upstream_error",
        param: null,
        code: ending === "hang" ? "upstream_timeout" : "upstream_broken",
      },
    });
  });

  it("has a flat error of vLLM converted to OpenAI's format", async () => {
    play([
      chunk("a"),
      'data: {"object":"error","message":"too long","type":"BadRequest","code":400}\n\n',
      DONE,
    ]);
    const text = (await stream().answer).body.toString();
    expect(text).toBe(
      `${chunk("a")}data: {"error":{"message":"too long","type":"BadRequest","param":null,"code":400}}\n\n${DONE}`,
    );
  });
});

describe("usage that the client did not request", () => {
  const usageChunk =
    'data: {"id":"c","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}\n\n';
  const withNull = chunk("a").replace('"choices"', '"usage":null,"choices"');

  it("is requested if the completion is recorded, and removed from the client's stream, byte for byte", async () => {
    const filters = 'data: {"choices":[],"prompt_filter_results":[]}\n\n';
    for (const cuts of [[], [5], [200, 210, 300], [400]]) {
      const bytes = Buffer.from(filters + withNull + usageChunk + DONE);
      play(splitAt(bytes, cuts));
      const response = await stream(RECORDED).answer;
      expect(response.body.toString()).toBe(filters + withNull + DONE);
    }
    expect(test.upstream.seen[0]!.body.toString()).toBe(
      '{"stream_options":{"include_usage":true},"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}',
    );
  });

  it("is neither requested nor removed if nothing is recorded", async () => {
    play([withNull, usageChunk, DONE]);
    expect((await stream().answer).body.toString()).toBe(withNull + usageChunk + DONE);
    expect(test.upstream.seen[0]!.body.toString()).not.toContain("include_usage");
  });
});

describe("a client that reads slowly", () => {
  it("slows the upstream down, with bounded memory", { timeout: 60_000 }, async () => {
    const large = chunk("x".repeat(512 * 1024));
    let taken = 0;
    play(
      (function* () {
        for (; taken < 80; taken++) yield large;
        yield DONE;
      })(),
    );
    const sent = request(`${test.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${ROOT_KEY}` },
    });
    sent.end('{"stream":true,"messages":[]}');
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    // what fits into the buffers of four sockets, and no more, has left the upstream when that comes to rest
    let last = -1;
    await until(async () => {
      const rests = taken === last;
      last = taken;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return rests;
    });
    expect(taken).toBeLessThan(60);
    let bytes = 0;
    for await (const part of response as AsyncIterable<Buffer>) bytes += part.length;
    expect([bytes, response.complete]).toEqual([80 * Buffer.byteLength(large) + DONE.length, true]);
  });
});
