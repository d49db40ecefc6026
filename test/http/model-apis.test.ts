import fc from "fast-check";
import { request } from "node:http";
import { brotliDecompressSync, constants, gunzipSync, zstdDecompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { playModels, type PlayedModels, type Sending } from "../helpers/played-models.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

let models: PlayedModels;
let test: TestApp;
let port: number;
beforeAll(async () => {
  models = await playModels();
  test = await startApp({ settings: { CHAT_UPSTREAM_URL: models.url, ANTHROPIC_UPSTREAM_URL: models.url } });
  port = Number(new URL(await test.app.listen({ host: "127.0.0.1", port: 0 })).port);
});
afterAll(async () => {
  await test.close();
  await models.close();
});

const MODEL_APIS = {
  "/responses": { model: "gpt-5", input: "What did it cost?" },
  "/messages": {
    model: "claude-played-1",
    max_tokens: 9,
    messages: [{ role: "user", content: "What did it cost?" }],
  },
  "/completions": { model: "gpt-3.5-turbo-instruct", prompt: "What did it cost?" },
  "/chat/completions": { model: "gpt-4o", messages: [{ role: "user", content: "What did it cost?" }] },
  "/embeddings": { model: "text-embedding-3-small", input: ["What did it cost?"] },
  "/responses/compact": { model: "gpt-5", input: "What did it cost?" },
  "/rerank": { model: "rerank-v3.5", query: "cost", documents: ["a"] },
  "/images/generations": { model: "gpt-image-1", prompt: "A forest" },
  "/audio/speech": { model: "gpt-4o-mini-tts", input: "Hello", voice: "ash", stream_format: "sse" },
  "/audio/transcriptions": { model: "gpt-4o-transcribe" },
} as const;
type Path = keyof typeof MODEL_APIS;

/** APIs with the streams of their requests: always, never, or as asked. */
const STREAMS: Partial<Record<Path, boolean>> = {
  "/embeddings": false,
  "/responses/compact": false,
  "/rerank": false,
  "/audio/speech": true,
};
/** Streams report usage only if asked. */
const ASKED: ReadonlySet<Path> = new Set(["/chat/completions", "/completions"]);
/** Without the provider's count there is none. */
const UNESTIMATED: ReadonlySet<Path> = new Set([
  "/rerank",
  "/images/generations",
  "/audio/speech",
  "/audio/transcriptions",
]);

interface Came {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

/** Sends a request, and reads what comes of its answer. */
function ask(
  url: string,
  body: object | string,
  headers: Readonly<Record<string, string>>,
  pauseMs = 0,
): Promise<Came> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, path: url, method: "POST", headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => {
        parts.push(part);
        if (pauseMs === 0 || parts.length > MAX_PAUSES) return;
        response.pause();
        setTimeout(() => response.resume(), pauseMs);
      });
      response.on("error", () => undefined);
      response.on("close", () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          bytes: Buffer.concat(parts),
          isWhole: response.complete,
        }),
      );
    });
    sent.on("error", reject);
    sent.end(typeof body === "string" ? body : JSON.stringify(body));
  });
}

/** A client is slow at first. */
const MAX_PAUSES = 20;
let asked = 0;
const bearer = { authorization: `Bearer ${ROOT_KEY}`, "content-type": "application/json" };

interface Stored {
  readonly id: string;
  readonly op_name: string;
  readonly output: unknown;
  readonly attributes: { readonly sumtree: { readonly usage: string; readonly outcome: string } };
}

async function recorded(project_id: string) {
  const lines = async (): Promise<Stored[]> =>
    (await test.post("/calls/stream_query", { project_id })).text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Stored);
  await until(async () => (await lines()).length === 1);
  const [call] = await lines();
  const { call_usage } = (await test.post("/trace/usage", { project_id })).json() as {
    call_usage: Record<string, Record<string, Record<string, number>>>;
  };
  const { id, op_name, output, attributes } = call!;
  return {
    id,
    op_name,
    output: JSON.stringify(output),
    ...attributes.sumtree,
    used: Object.values(call_usage[call!.id]!)[0],
  };
}

function formOf(fields: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries({ ...fields, file: "sound" }).map(
    ([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join("")}--b--\r\n`;
}

const unpackers = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync } as const;

/** As far as it goes. */
function unpacked(encoding: keyof typeof unpackers, bytes: Buffer): Buffer {
  const options = {
    gzip: { finishFlush: constants.Z_SYNC_FLUSH },
    br: { finishFlush: constants.BROTLI_OPERATION_FLUSH },
    zstd: { finishFlush: constants.ZSTD_e_flush },
  };
  return bytes.length === 0 ? bytes : unpackers[encoding](bytes, options[encoding]);
}

/** Returns how exactly the last complete event of a stream reports the usage. */
function knownFrom(text: string): "exact" | "partial" | "nothing" {
  const lines = text
    .slice(0, text.lastIndexOf("\n\n") + 2)
    .split("\n")
    .filter((line) => line.startsWith("data: {") && line.endsWith("}"));
  const events = lines.flatMap((line) => parsedOrNone(line.slice(6)));
  if (events.some(({ usage }) => usage != null)) return "exact";
  const types = events.map((one) => one["type"]);
  if (types.includes("response.completed")) return "exact";
  return types.includes("message_start") ? "partial" : "nothing";
}

/** An event may be torn behind any of its braces. */
function parsedOrNone(text: string): Record<string, unknown>[] {
  try {
    return [JSON.parse(text) as Record<string, unknown>];
  } catch {
    return [];
  }
}

const RANKS = ["estimated", "partial", "exact"] as const;
const rankOf = (known: string): number => Math.max(RANKS.indexOf(known as "exact"), 0);

const plan = fc.record({
  path: fc.constantFrom<Path>(...(Object.keys(MODEL_APIS) as Path[])),
  streamed: fc.boolean(),
  isRecorded: fc.boolean(),
  pauseMs: fc.constantFrom(0, 0, 0, 5),
  sending: fc.record({
    counts: fc.record({
      input: fc.integer({ min: 1, max: 200_000 }),
      cached: fc.nat(1000),
      written: fc.nat(1000),
      output: fc.integer({ min: 1, max: 50_000 }),
    }),
    encoding: fc.constantFrom<Sending["encoding"]>(undefined, undefined, undefined, "gzip", "br", "zstd"),
    writes: fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 4000 })), {
      minLength: 1,
      maxLength: 60,
    }),
    padding: fc.oneof(
      { weight: 9, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 4 * 1024 * 1024 }) },
    ),
    cutAt: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined, freq: 2 }),
  }),
});
type Plan = typeof plan extends fc.Arbitrary<infer One> ? One : never;

async function relay({ path, streamed, isRecorded, pauseMs, sending }: Plan): Promise<void> {
  const id = `call-${asked++}`;
  const project = `acme/${id}`;
  // input counts what is cached, but not at Anthropic
  const counts = {
    ...sending.counts,
    cached: Math.min(sending.counts.cached, path === "/messages" ? 1000 : sending.counts.input),
  };
  const streams = STREAMS[path] ?? streamed;
  const isLarge = sending.padding > 0;
  const writes = isLarge ? [...sending.writes, 64 * 1024] : sending.writes;
  models.plan(id, { ...sending, writes, counts });
  const asking = { ...MODEL_APIS[path], ...(streams ? { stream: true } : {}) };
  const isForm = path === "/audio/transcriptions";
  const headers = {
    ...bearer,
    ...(isForm ? { "content-type": "multipart/form-data; boundary=b" } : {}),
    ...(isRecorded ? { "x-sumtree-project": project } : {}),
    "x-client-request-id": id,
  };
  const came = await ask(`/v1${path}`, isForm ? formOf(asking) : asking, headers, pauseMs);
  const played = models.seen.find(({ headers }) => headers["x-client-request-id"] === id)!;
  expect(came.status).toBe(200);
  expect(played.headers["x-sumtree-project"]).toBeUndefined();

  const { cutAt, encoding } = sending;
  // streams pass plain
  const isUnpacked = encoding !== undefined && came.headers["content-encoding"] === undefined;
  const sent = isUnpacked ? unpacked(encoding, played.bytes) : played.bytes;
  if (isUnpacked) expect(streams || isLarge).toBe(true);
  // usage that the gateway asked for is hidden again, so that chunk is missing
  const isHidden = isRecorded && streams && ASKED.has(path);
  if (cutAt === undefined) {
    expect(came.isWhole).toBe(true);
    if (!isHidden) expect(came.bytes.equals(sent)).toBe(true);
    else expect(came.bytes.toString()).not.toContain('"usage"');
  } else {
    // a message that lacks nothing but its last event, or a blank line, may end in good order
    const isUnread = !streams;
    if (isUnread && played.bytes.length > 0)
      expect(came.bytes.equals(sent.subarray(0, came.bytes.length))).toBe(true);
    if (isUnread && cutAt < 0.999) expect(came.isWhole).toBe(false);
  }
  if (!isRecorded) return;

  const found = await recorded(project);
  const served = played.answer.served;
  if (cutAt === undefined) {
    expect([found.usage, found.outcome]).toEqual(["exact", "finished"]);
    expect(found.used).toMatchObject({ ...served, requests: 1 });
    return;
  }
  const isNone = UNESTIMATED.has(path) && found.usage === "none";
  if (!isNone) expect(["estimated", "partial", "exact"]).toContain(found.usage);
  if (!streams || encoding !== undefined || isLarge) {
    // what is compressed is read as far as it can be
    if (found.usage === "exact") expect(found.used).toMatchObject(served);
    return;
  }
  const text = played.bytes.toString();
  const [least, most] = [
    knownFrom(came.bytes.toString()),
    knownFrom(`${text}\n\n`.replace(/\n{3,}$/, "\n\n")),
  ];
  expect(rankOf(found.usage)).toBeGreaterThanOrEqual(isHidden ? 0 : rankOf(least));
  expect(rankOf(found.usage)).toBeLessThanOrEqual(rankOf(most));
  if (isNone) return expect(found.used).toBeUndefined();
  const { prompt_tokens, completion_tokens = 0, total_tokens, ...caches } = found.used!;
  expect(prompt_tokens).toBeGreaterThan(0);
  if (found.usage === "exact") expect(found.used).toMatchObject(served);
  if (found.usage === "partial") {
    const { completion_tokens: _, total_tokens: _total, ...input } = served;
    expect({ prompt_tokens, ...caches }).toMatchObject(input);
    expect(total_tokens).toBe(prompt_tokens! + completion_tokens);
  }
}

it("each API relays every byte and records the usage, for any chunks and any interruption", async () => {
  // one that hangs is shown as a counterexample
  const options = { numRuns: runs(10, 100), seed: chosenSeed(), timeout: 100_000 };
  const plans = fc.array(plan, { minLength: 5, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(plans, async (some) => void (await Promise.all(some.map(relay)))),
    options,
  );
});

it("a stream is complete for its client if the connection is reset after its last event", async () => {
  for (const path of ["/messages", "/responses"] as const) {
    const id = `cut-behind-${path}`;
    models.plan(id, { counts: { input: 1, cached: 0, written: 0, output: 1 }, writes: [2 ** 20], cutAt: 1 });
    const headers = { ...bearer, "x-client-request-id": id };
    const came = await ask(`/v1${path}`, { ...MODEL_APIS[path], stream: true }, headers);
    expect([came.isWhole, came.bytes.equals(models.seen.at(-1)!.bytes)]).toEqual([true, true]);
  }
});

it("decompression returns the compressed events", async () => {
  for (const encoding of ["gzip", "br", "zstd"] as const) {
    const id = `packed-${encoding}`;
    models.plan(id, { counts: { input: 1, cached: 0, written: 0, output: 1 }, encoding, writes: [7] });
    const came = await ask("/v1/messages", MODEL_APIS["/messages"], { ...bearer, "x-client-request-id": id });
    expect(JSON.parse(unpackers[encoding](came.bytes).toString())).toMatchObject({ type: "message" });
  }
});

describe("APIs that report usage in one place", () => {
  const FORM = formOf(MODEL_APIS["/audio/transcriptions"]);

  it.each([
    [
      "/images/generations",
      { model: "gpt-image-1", prompt: "A forest" },
      "openai.images.generate",
      "output_image_tokens",
      "aW1hZ2U=",
    ],
    ["/audio/transcriptions", FORM, "openai.audio.transcriptions.create", "input_audio_tokens", "sound"],
    ["/rerank", { model: "rerank-v3.5", query: "q", documents: ["a"] }, "rerank", "rerank_searches", "b64"],
  ])("%s", async (path, body, ...[opName, unit, unkept]) => {
    const project = `acme/plain-${asked++}`;
    const type = typeof body === "string" ? "multipart/form-data; boundary=b" : "application/json";
    const headers = { ...bearer, "content-type": type, "x-sumtree-project": project };
    const came = await ask(`/v1${path}`, body, headers);
    const played = models.seen.at(-1)!;
    expect([came.status, came.bytes.equals(played.bytes)]).toEqual([200, true]);
    const found = await recorded(project);
    expect([found.op_name, found.usage, found.outcome]).toEqual([opName, "exact", "finished"]);
    expect(found.used).toMatchObject({ ...played.answer.served, requests: 1 });
    const receipt = await test.post("/call/receipt", { project_id: project, call_id: found.id });
    expect(receipt.text).toContain(unit);
    expect(found.output).not.toContain(unkept);
  });
});

describe("our own errors", () => {
  it("name the setting if an endpoint has no upstream, and nothing is sent upstream", async () => {
    const bare = await startApp({ settings: { ANTHROPIC_UPSTREAM_URL: models.url } });
    const before = models.seen.length;
    for (const path of ["/responses", "/completions", "/embeddings"]) {
      const answer = await bare.post(`/v1${path}`, {}, { scheme: "bearer" });
      expect(answer.status).toBe(503);
      expect(answer.json()).toMatchObject({
        error: { message: expect.stringContaining("CHAT_UPSTREAM_URL") },
      });
    }
    await bare.close();
    const without = await startApp();
    const answer = await without.post("/v1/messages", {}, { scheme: "bearer" });
    expect(answer.json()).toMatchObject({
      type: "error",
      error: { type: "api_error", message: expect.stringContaining("ANTHROPIC_UPSTREAM_URL") },
    });
    await without.close();
    expect(models.seen).toHaveLength(before);
  });
});
