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

describe("the journal", () => {
  it.each(kinds)(
    "contains the end of $what before its client receives the last byte",
    async ({ fault, more = {} }) => {
      for (let times = 0; times < 5; times++) {
        if (fault !== undefined) test.upstream.fail(fault);
        const request = httpRequest(`${test.baseUrl}/chat/completions`, {
          method: "POST",
          headers: { ...bearer, "openai-project": "acme/journal" },
        });
        request.end(JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }], ...more }));
        const [response] = (await once(request, "response")) as [IncomingMessage];
        const key = String(response.headers["x-sumtree-call-id"]);
        expect(records.get(key)?.[0]).toMatchObject({ started: { output: null } });
        response.resume();
        await once(response, "end");
        expect(records.get(key)?.[1]).toMatchObject({ ended: { startedAtMs: expect.any(Number) } });
      }
    },
  );
});
