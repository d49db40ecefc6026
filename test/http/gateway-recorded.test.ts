import type { Socket } from "node:net";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Journal } from "../../src/journal/journal.ts";
import { splitAt } from "../helpers/random-splits.ts";
import type { RawResponse } from "../helpers/raw-http.ts";
import { callsOf, nothingLeft, type RecordedCall } from "../helpers/recorded-calls.ts";
import { recordedCall, sendTo, startGateway, type TestGateway } from "../helpers/start-gateway.ts";

/** Records by key. */
const journaled = new Map<string, object[]>();
let entries = 0;
/** The last connection of a client, and what had been written to it when the end of its call was journaled. */
let connection: Socket;
let writtenBefore = 0;
const journal: Journal = {
  orphaned: [],
  lastWriteMs: 0,
  add: (added) =>
    added.map(({ key, text }) => {
      if (text.includes('"ended":')) writtenBefore = connection.bytesWritten;
      journaled.set(key, [...(journaled.get(key) ?? []), JSON.parse(text) as object]);
      return entries++;
    }),
  remove: () => undefined,
  read: () => undefined,
  close: () => undefined,
};

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway({ deps: { journal } });
  test.app.server.on("connection", (socket) => (connection = socket));
});
afterAll(() => test.close());

const USAGE = { prompt_tokens: 77, completion_tokens: 5, total_tokens: 82 };
const DONE = "data: [DONE]\n\n";
const event = (part: object): string => `data: ${JSON.stringify({ id: "c", model: "served", ...part })}\n\n`;
const completion = (content: string): string => {
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  return JSON.stringify({ id: "c", model: "served", choices, usage: USAGE });
};
const TEXT = 'naïve 🌲 data: "x"\n\ndata: [DONE]\n\n';
const whole = completion(TEXT);
/** Every stretch of it differs from the next, so that compressing it takes long. */
const LONG = Array.from({ length: 60_000 }, (_, at) => (at * 7919).toString(36)).join("");
const large = completion(LONG);
const last = { index: 0, delta: { content: TEXT }, finish_reason: "stop" };
const stream = event({ choices: [last] }) + event({ choices: [], usage: USAGE }) + DONE;
const cut = event({ choices: [{ ...last, finish_reason: null }] });

type Headers = Readonly<Record<string, string>>;
const SSE = { "content-type": "text/event-stream" };
const PLAIN = { "content-type": "text/plain" };
const encoded = (encoding: string, type = "application/json"): Headers => ({
  "content-type": type,
  "content-encoding": encoding,
});
const withLength = (bytes: string | Buffer, headers = {}): Headers => ({
  "content-type": "application/json",
  "content-length": String(Buffer.byteLength(bytes)),
  ...headers,
});
const packed = gzipSync(large);

const error = '{"error":{"message":"no such model"}}';
const failed = error.replace("{", `{"usage":${JSON.stringify(USAGE)},`);
const flat = '{"object":"error","message":"no such model","code":404}';

type Sent = readonly [what: string, bytes: string | Buffer, headers: Headers, status?: number];
const completions: readonly Sent[] = [
  ["a completion without a length", large, {}],
  ["with a length", large, withLength(large)],
  ["compressed without a length", packed, encoded("gzip")],
  ["compressed with a length", packed, withLength(packed, { "content-encoding": "gzip" })],
  ["as text", whole, PLAIN],
  ["as a stream", `\ufeff\r\n${whole}`, SSE],
  ["as a stream with an end marker", `${whole}\n\n${DONE}`, SSE],
  ["in x-gzip", gzipSync(whole), encoded("x-gzip")],
  ["in deflate", deflateSync(whole), encoded("deflate")],
  ["in deflate without its header", deflateRawSync(whole), encoded("deflate")],
  ["in brotli", brotliCompressSync(whole), encoded("br")],
  ["a stream", stream, SSE],
  ["a stream without an end marker", stream.slice(0, -DONE.length), SSE],
  ["a stream as text", stream, PLAIN],
  ["a stream as JSON", stream, { "content-type": "application/json; charset=utf-8" }],
  ["a compressed stream", gzipSync(stream), encoded("gzip", SSE["content-type"])],
  ["a stream with usage in the choice", event({ choices: [{ ...last, usage: USAGE }] }) + DONE, SSE],
];
const errors: readonly Sent[] = [
  ["an error", error, {}, 400],
  ["an error under 200", error, PLAIN],
  ["a flat error under 200", flat, {}],
  ["an error that was charged", failed, {}, 500],
  ["an error under 200 that was charged", failed, {}],
  ["a stream of an error that was charged", `data: ${failed}\n\n`, SSE],
];
const torn: Sent = ["a compressed stream that is cut", gzipSync(cut), encoded("gzip", SSE["content-type"])];

describe("a response passes byte for byte, is journaled before its end, and recorded", () => {
  const project = "acme/recorded";
  const came = new Map<string, RawResponse & { readonly behind: number }>();
  let calls: ReadonlyMap<string, RecordedCall>;
  // all at first: what is recorded together costs little
  beforeAll(async () => {
    for (const [what, bytes, headers, status] of [...completions, ...errors, torn]) {
      const chunks = splitAt(Buffer.from(bytes), [7, Math.floor(bytes.length / 2)]);
      test.upstream.fail(
        status === undefined
          ? { kind: "bytes", chunks, headers, ending: "end" }
          : { kind: "answer", status, body: bytes, headers },
      );
      const lines = [`openai-project: ${project}`];
      const body = '{"model":"asked","messages":[]}';
      const answer = await sendTo(test, "POST /v1/chat/completions", lines, body).answer;
      came.set(what, { ...answer, behind: connection.bytesWritten - writtenBefore });
    }
    await nothingLeft(test);
    calls = new Map((await callsOf(test, project)).map((call) => [call.id, call]));
    expect(calls.size).toBe(came.size);
  });

  function recordedOf([what, bytes, headers, status = 200]: Sent): RecordedCall {
    const { behind, ...answer } = came.get(what)!;
    // a stream with an end marker waits with that, and else a body with its last byte or chunk
    const isStream = bytes.includes(DONE) && bytes.toString().startsWith("data: ") && headers === SSE;
    expect(behind).toBeGreaterThan(isStream ? DONE.length : 0);
    expect([answer.status, answer.complete, answer.body.equals(Buffer.from(bytes))]).toEqual([
      status,
      true,
      true,
    ]);
    expect(answer.headers).toMatchObject(headers);
    const id = answer.headers["x-sumtree-call-id"]!;
    expect(journaled.get(id)).toMatchObject([
      { started: { output: null } },
      { ended: { startedAtMs: expect.any(Number) } },
    ]);
    return calls.get(id)!;
  }

  it.each(completions.map((sent) => ({ what: sent[0], sent })))("$what", ({ sent }) => {
    const { summary, output, attributes } = recordedOf(sent);
    expect(attributes.sumtree).toMatchObject({ outcome: "finished", usage: "exact" });
    expect(summary.usage).toEqual({ served: { ...USAGE, requests: 1 } });
    const content = sent[1] === large || sent[1] === packed ? LONG : TEXT;
    expect(output).toMatchObject({ id: "c", choices: [{ message: { content } }] });
  });

  it.each(errors.map((sent) => ({ what: sent[0], sent })))("$what", ({ sent }) => {
    const { summary, ...call } = recordedOf(sent);
    const isCharged = sent[1].includes("usage");
    expect(call).toMatchObject({
      attributes: {
        sumtree: { outcome: "error", usage: isCharged ? "exact" : "none", status: sent[3] ?? 200 },
      },
      exception: "no such model",
    });
    expect(Object.values(summary.usage)).toMatchObject(isCharged ? [USAGE] : []);
  });

  it("a compressed stream that is cut", () => {
    const { attributes } = recordedOf(torn);
    expect(attributes.sumtree).toMatchObject({ outcome: "upstream_cut", usage: "estimated" });
  });
});

describe("a call that the gateway records", () => {
  const project_id = "acme/own-calls";
  const at = "2030-01-01T00:00:00Z";
  const startOf = (id: string) => ({ project_id, id, op_name: "mine", started_at: at });
  const endOf = (id: string) => ({ project_id, id, ended_at: at, summary: {}, output: null });
  const wholeOf = (id: string) => ({ ...startOf(id), ...endOf(id), trace_id: "mine" });

  it("is changed by no client, but can be named and deleted, and be the parent of others", async () => {
    const lines = [`x-sumtree-project: ${project_id}`, "x-sumtree-trace-id: own-trace"];
    const body = '{"model":"m","messages":[]}';
    await sendTo(test, "POST /v1/chat/completions", lines, body).answer;
    const before = await recordedCall(test, project_id);
    const { id } = before;
    const loc = expect.arrayContaining(["id"]) as unknown;
    for (const path of ["", `/v2/${project_id}`])
      for (const part of [{ start: startOf(id) }, { end: endOf(id) }]) {
        const came = await test.post(`${path}/call/${Object.keys(part)[0]}`, part);
        expect([came.status, came.json().detail]).toEqual([422, [expect.objectContaining({ loc })]]);
      }
    const url = `/v2/${project_id}/calls/complete`;
    const whole = await test.post(url, { batch: [wholeOf(id)] });
    expect(whole.json().rejected).toMatchObject([{ index: 0 }]);
    const [start, end] = [{ start: startOf(id) }, { end: endOf(id) }];
    const batch = [start, end].map((req) => ({ mode: Object.keys(req)[0], req }));
    const parts = await test.post("/call/upsert_batch", { batch });
    expect(parts.json().rejected).toMatchObject([{ index: 0 }, { index: 1 }]);
    expect(await recordedCall(test, project_id)).toEqual(before);

    await test.post("/call/update", { project_id, call_id: id, display_name: "Mine" });
    expect(await recordedCall(test, project_id)).toMatchObject({ display_name: "Mine" });
    const child = { ...wholeOf("child"), trace_id: "own-trace", parent_id: id };
    expect((await test.post(url, { batch: [child] })).json()).toEqual({ rejected: [] });
    const deleted = await test.post("/calls/delete", { project_id, call_ids: [id] });
    expect(deleted.json()).toMatchObject({ num_deleted: 2 });
  });
});
