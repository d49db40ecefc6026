import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Journal } from "../../src/journal/journal.ts";
import { bearer, startGateway, type TestGateway } from "../helpers/start-gateway.ts";
import type { Fault } from "../helpers/reference-upstream/faults.ts";

/** Records by key. */
const records = new Map<string, object[]>();
let entries = 0;
const journal: Journal = {
  orphaned: [],
  lastWriteMs: 0,
  add: (added) =>
    added.map(({ key, text }) => {
      records.set(key, [...(records.get(key) ?? []), JSON.parse(text) as object]);
      return entries++;
    }),
  remove: () => undefined,
  read: () => undefined,
  close: () => undefined,
};

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway({ deps: { journal } });
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

const message = { role: "assistant", content: randomBytes(200_000).toString("hex") };
const completion = JSON.stringify({
  id: "c",
  model: "m",
  choices: [{ index: 0, message, finish_reason: "stop" }],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
});

function sent(bytes: Uint8Array, headers: Readonly<Record<string, string>>): Fault {
  const half = Math.floor(bytes.length / 2);
  const chunks = [bytes.subarray(0, half), bytes.subarray(half)];
  return {
    kind: "bytes",
    chunks,
    headers: { "content-type": "application/json", ...headers },
    ending: "end",
  };
}

const plain = Buffer.from(completion);
const [gzip, brotli] = [gzipSync(plain), brotliCompressSync(plain)];
const withLength = (bytes: Uint8Array): Record<string, string> => ({
  "content-length": String(bytes.length),
});

interface Kind {
  readonly what: string;
  readonly fault?: Fault;
  readonly more?: object;
}

const compressed = (bytes: Uint8Array, encoding: string): Fault =>
  sent(bytes, { "content-encoding": encoding, ...withLength(bytes) });

const kinds: readonly Kind[] = [
  { what: "a completion" },
  { what: "a stream", more: { stream: true } },
  { what: "a completion without a length", fault: sent(plain, {}) },
  { what: "a completion with a length", fault: sent(plain, withLength(plain)) },
  { what: "a compressed completion without a length", fault: sent(gzip, { "content-encoding": "gzip" }) },
  { what: "a compressed completion with a length", fault: compressed(gzip, "gzip") },
  { what: "a completion in brotli", fault: compressed(brotli, "br") },
  { what: "an error", fault: { kind: "answer", status: 500, body: '{"detail":"broken"}' } },
];

async function start(path: string, body: object): Promise<{ response: IncomingMessage; key: string }> {
  const headers = { ...bearer, "openai-project": "acme/journal" };
  const request = httpRequest(`${test.baseUrl}${path}`, { method: "POST", headers });
  request.end(JSON.stringify({ model: "m", ...body }));
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return { response, key: String(response.headers["x-sumtree-call-id"]) };
}

async function finish(response: IncomingMessage): Promise<void> {
  response.resume();
  await once(response, "end");
}

describe("the journal", () => {
  it.each(kinds)(
    "contains the end of $what before its client receives the last byte",
    async ({ fault, more = {} }) => {
      for (let times = 0; times < 5; times++) {
        if (fault !== undefined) test.upstream.fail(fault);
        const messages = [{ role: "user", content: "Hi" }];
        const { response, key } = await start("/chat/completions", { messages, ...more });
        expect(records.get(key)?.[0]).toMatchObject({ started: { output: null } });
        await finish(response);
        expect(records.get(key)?.[1]).toMatchObject({ ended: { startedAtMs: expect.any(Number) } });
      }
    },
  );

  it("contains a response in the background as pending, and its end under another name", async () => {
    const eventOf = (type: string, more: object): Buffer => {
      const response = { id: "resp_1", object: "response", background: true, model: "m", ...more };
      return Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, response })}\n\n`);
    };
    const usage = { input_tokens: 7, output_tokens: 3, total_tokens: 10 };
    const chunks = [
      eventOf("response.created", { status: "queued" }),
      eventOf("response.completed", { status: "completed", usage }),
    ];
    const headers = { "content-type": "text/event-stream" };
    test.upstream.fail({ kind: "bytes", chunks, headers, ending: "end" });
    const before = new Set(records.keys());
    const { response } = await start("/responses", { input: "Hi", background: true, stream: true });
    await finish(response);
    const [name = "", last = ""] = [...records.keys()].filter((key) => !before.has(key));
    expect(last).toBe(`${name}/1`);
    const marked = (outcome: string) => ({ ended: { attributes: { sumtree: { outcome } } } });
    expect(records.get(name)).toMatchObject([{ started: { output: null } }, marked("pending")]);
    expect(records.get(last)).toMatchObject([marked("finished")]);
  });
});
