import { createServer, request, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nothingLeft } from "../helpers/recorded-calls.ts";
import { splitAt } from "../helpers/random-splits.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";
import type { ModelApiCase } from "../models/model-api-cases/model-api-case.ts";
import { geminiCases } from "../models/model-api-cases/gemini-cases.ts";
import { messagesCases } from "../models/model-api-cases/messages-cases.ts";
import { otherCases } from "../models/model-api-cases/other-cases.ts";
import { responsesCases } from "../models/model-api-cases/responses-cases.ts";

interface Came {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** Its end has come. */
  readonly isWhole: boolean;
}

interface Reply {
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly pieces: readonly (string | Buffer)[];
  /** True: keeps the stream open without events, until the client leaves. */
  readonly isOpen?: boolean;
}

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  left: boolean;
}

/** A provider that gives each request the answer that was planned for its project or, without one, for the next. */
const replies: Reply[] = [];
const seen: Seen[] = [];
let provider: Server;
let test: TestApp;
let port: number;
beforeAll(async () => {
  provider = createServer((asked, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of asked as AsyncIterable<Buffer>) parts.push(part);
      const one = {
        method: asked.method!,
        url: asked.url!,
        headers: asked.headers,
        body: Buffer.concat(parts),
        left: false,
      };
      seen.push(one);
      response.on("close", () => (one.left = !response.writableFinished));
      const { status = 200, headers = {}, pieces, isOpen = false } = replies.shift()!;
      response.writeHead(status, headers);
      for (const piece of pieces) {
        response.write(piece);
        await delay(1);
      }
      if (!isOpen) response.end();
    })();
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  test = await startApp({
    settings: {
      CHAT_UPSTREAM_URL: url,
      CHAT_UPSTREAM_API_KEY: "sk-of-the-operator",
      ANTHROPIC_UPSTREAM_URL: url,
      ANTHROPIC_UPSTREAM_API_KEY: "sk-ant-of-the-operator",
      GEMINI_UPSTREAM_URL: url.slice(0, -"/v1".length),
      GEMINI_UPSTREAM_API_KEY: "google-key-of-the-operator",
    },
  });
  port = Number(new URL(await test.app.listen({ host: "127.0.0.1", port: 0 })).port);
});
afterAll(async () => {
  await test.close();
  provider.closeAllConnections();
  await new Promise((resolve) => provider.close(resolve));
});

interface Asking {
  readonly project?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  /** The client leaves once this much has come. */
  readonly leavesAfter?: number;
}

function ask(
  path: string,
  body: Buffer | object,
  { project, headers, method = "POST", leavesAfter = Number.POSITIVE_INFINITY }: Asking = {},
): Promise<Came> {
  return new Promise((resolve, reject) => {
    const all = {
      authorization: `Bearer ${ROOT_KEY}`,
      "content-type": "application/json",
      ...(project === undefined ? {} : { "x-sumtree-project": project }),
      ...headers,
    };
    const sent = request(
      { port, path: path.startsWith("/v1") ? path : `/v1${path}`, method, headers: all },
      (response) => {
        const parts: Buffer[] = [];
        const came = (): Came => ({
          status: response.statusCode!,
          headers: response.headers,
          bytes: Buffer.concat(parts),
          isWhole: response.complete,
        });
        response.on("data", (part: Buffer) => {
          parts.push(part);
          if (came().bytes.length >= leavesAfter) sent.destroy();
        });
        response.on("error", () => undefined);
        response.on("close", () => resolve(came()));
      },
    );
    sent.on("error", (error) => (leavesAfter === Number.POSITIVE_INFINITY ? reject(error) : undefined));
    sent.end(method === "GET" ? undefined : Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
}

interface StoredCall {
  readonly id: string;
  readonly op_name: string;
  readonly exception: string | null;
  readonly ended_at: string | null;
  readonly attributes: { readonly sumtree: Readonly<Record<string, unknown>> };
}

async function callsOf(project_id: string): Promise<StoredCall[]> {
  const { text } = await test.post("/calls/stream_query", { project_id });
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as StoredCall);
}

async function onlyCall(project: string): Promise<StoredCall> {
  await nothingLeft(test);
  const calls = await callsOf(project);
  expect(calls).toHaveLength(1);
  return calls[0]!;
}

type Used = Record<string, Record<string, number>>;

async function usedBy(project_id: string, callId: string): Promise<Used> {
  const { call_usage } = (await test.post("/trace/usage", { project_id })).json() as {
    call_usage: Record<string, Used>;
  };
  return call_usage[callId] ?? {};
}

interface Receipt {
  readonly usage: readonly { readonly own: { readonly units: object } }[];
  readonly lines: readonly {
    readonly unit: string;
    readonly quantity: number;
    readonly amount_usd: number | null;
  }[];
}

let projects = 0;
const newProject = (): string => `acme/case-${projects++}`;

const piecesOf = ({ answer }: ModelApiCase): readonly string[] =>
  Array.isArray(answer)
    ? (answer as readonly string[])
    : [typeof answer === "string" ? answer : JSON.stringify(answer)];

const typeOf = ({ answer }: ModelApiCase): string =>
  Array.isArray(answer) ? "text/event-stream" : "application/json";

interface Played {
  readonly project: string;
  readonly came: Came;
  readonly sent: Buffer;
  readonly headers: IncomingHttpHeaders;
}

async function play(
  one: ModelApiCase,
  pieces: readonly (string | Buffer)[] = piecesOf(one),
  type = typeOf(one),
): Promise<Played> {
  const project = newProject();
  replies.push({ status: one.status, headers: { "content-type": type, ...one.headers }, pieces });
  const came = await ask(one.path, one.body, { project, headers: one.requestHeaders ?? {} });
  const sent = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
  return { project, came, sent, headers: seen.at(-1)!.headers };
}

async function expectRecorded(one: ModelApiCase, { project, came, sent, headers }: Played): Promise<void> {
  expect([came.status, came.isWhole]).toEqual([one.status ?? 200, one.outcome !== "upstream_cut"]);
  // a broken stream has an error event of ours at its end
  if (one.outcome === "upstream_cut") expect(came.bytes.subarray(0, sent.length).equals(sent)).toBe(true);
  else expect(came.bytes.toString()).toBe(sent.toString());
  for (const [name, value] of Object.entries(one.headers ?? {})) expect(came.headers[name]).toBe(value);
  expect(JSON.stringify(headers)).not.toContain(ROOT_KEY);

  const call = await onlyCall(project);
  expect(call.attributes.sumtree).toMatchObject({ usage: one.usage, outcome: one.outcome });
  if (one.exception !== undefined) expect(call.exception).toContain(one.exception);
  if (one.outcome === "finished") expect(call.exception).toBeNull();
  const used = await usedBy(project, call.id);
  expect(Object.keys(used).toSorted()).toEqual(Object.keys(one.used).toSorted());
  expect(used).toMatchObject(one.used);
  const receipt = (
    await test.post("/call/receipt", { project_id: project, call_id: call.id })
  ).json() as Receipt;
  const quantities = Object.assign(
    {},
    ...receipt.usage.map(({ own }) => own.units),
    ...receipt.lines.map(({ unit, quantity }) => ({ [unit]: quantity })),
  ) as object;
  if (one.lines !== undefined) expect(quantities).toMatchObject(one.lines);
  if (one.cost === undefined) return;
  const amounts = receipt.lines.map(({ amount_usd }) => amount_usd);
  expect(amounts).not.toContain(null);
  expect(amounts.reduce<number>((sum, amount) => sum + amount!, 0)).toBeCloseTo(one.cost, 12);
}

const cases = [...responsesCases, ...messagesCases, ...otherCases, ...geminiCases];
const lists = geminiCases.filter(({ answer }) => Array.isArray(answer));

describe("a response passes unchanged and is recorded", () => {
  const played = new Map<ModelApiCase, Played>();
  const playedLists = new Map<ModelApiCase, Played>();
  // all at first: what is recorded together costs little
  beforeAll(async () => {
    const random = seededRandom();
    for (const one of cases) played.set(one, await play(one));
    for (const one of lists) {
      const events = piecesOf(one).map((event) => event.slice("data: ".length).trim());
      // a cut list has no end
      const list = `[${events.join("\n,\r\n")}${one.outcome === "upstream_cut" ? "" : "\n]\n"}`;
      const places = Array.from({ length: 9 }, () => Math.floor(random.next() * 2 ** 20));
      const asked = { ...one, path: one.path.replace("?alt=sse", "") };
      playedLists.set(one, await play(asked, splitAt(Buffer.from(list), places), "application/json"));
    }
    await nothingLeft(test);
  });

  it.each(cases)("$number: $name", (one) => expectRecorded(one, played.get(one)!));

  it.each(lists)("as a list in any chunks, $name", (one) => expectRecorded(one, playedLists.get(one)!));
});

it("what Gemini streams is recorded as one response, and a broken stream ends with Google's error", async () => {
  const [thoughts, cut] = ["of counts that grow", "of a stream cut"].map((name) =>
    geminiCases.find((one) => one.name.startsWith(name))!,
  );
  const project = newProject();
  replies.push({ headers: { "content-type": typeOf(thoughts!) }, pieces: piecesOf(thoughts!) });
  await ask(thoughts!.path, thoughts!.body, { project });
  expect(await onlyCall(project)).toMatchObject({
    op_name: "google.genai.models.generate_content",
    inputs: thoughts!.body,
    attributes: { sumtree: { stream: true } },
    output: {
      id: "q7A2aYvBLKbW1PIP5rXy",
      model: "gemini-2.5-flash",
      candidates: [
        {
          content: { parts: [{ text: "Hm.", thought: true }, { text: "Ye" }], role: "model" },
          finishReason: "STOP",
          index: 0,
        },
        { content: { parts: [{ text: "No" }], role: "model" }, finishReason: "MAX_TOKENS", index: 1 },
      ],
      usageMetadata: { candidatesTokenCount: 4, thoughtsTokenCount: 100 },
    },
  });

  replies.push({ headers: { "content-type": typeOf(cut!) }, pieces: piecesOf(cut!) });
  const { bytes } = await ask(cut!.path, cut!.body, { project, leavesAfter: 1e9 });
  const last = bytes.toString().trim().split("\n").at(-1)!;
  expect(JSON.parse(last.slice("data: ".length))).toEqual({
    error: { code: 502, message: expect.any(String) as string, status: "UNAVAILABLE" },
  });
});

const completed = responsesCases.find(({ number }) => number === 1)!;
const message = messagesCases.find(({ number }) => number === 21)!;

it("16, 34: counting tokens is free, and a 404 for it is relayed", async () => {
  for (const path of ["/responses/input_tokens", "/messages/count_tokens"]) {
    const project = newProject();
    replies.push({ headers: { "content-type": "application/json" }, pieces: ['{"input_tokens":7}'] });
    expect((await ask(path, {}, { project })).bytes.toString()).toBe('{"input_tokens":7}');
    replies.push({
      status: 404,
      headers: { "content-type": "application/json" },
      pieces: ['{"type":"error"}'],
    });
    const missing = await ask(path, {}, { project });
    expect([missing.status, missing.bytes.toString()]).toEqual([404, '{"type":"error"}']);
    await nothingLeft(test);
    expect(await callsOf(project)).toEqual([]);
  }
});

it("17, 18: a WebSocket is rejected with 426, and the same over HTTP is one call", async () => {
  const before = seen.length;
  const upgrade = {
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };
  const project = newProject();
  const rejected = await ask("/responses", {}, { project, method: "GET", headers: upgrade });
  expect(rejected.status).toBe(426);
  expect(JSON.parse(rejected.bytes.toString())).toMatchObject({ error: { code: "upgrade_required" } });
  expect(seen).toHaveLength(before);
  replies.push({ headers: { "content-type": "application/json" }, pieces: piecesOf(completed) });
  await ask(completed.path, completed.body, { project });
  await onlyCall(project);
});

it("26: events are read for any chunks and any line endings", async () => {
  const [start, ...others] = piecesOf(messagesCases.find(({ number }) => number === 22)!);
  const text = [
    start,
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,\ndata: "delta":{"type":"text_delta","text":"naïvely 🌲"}}\n\n',
    ...others,
  ].join("");
  for (const ends of [text, text.replaceAll("\n", "\r\n")]) {
    const bytes = Buffer.from(ends);
    const project = newProject();
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
      bytes.subarray(at * 7, at * 7 + 7),
    );
    replies.push({ headers: { "content-type": "text/event-stream" }, pieces });
    expect(
      (await ask(message.path, { ...(message.body as object), stream: true }, { project })).bytes.equals(
        bytes,
      ),
    ).toBe(true);
    const call = await onlyCall(project);
    expect(Object.values(await usedBy(project, call.id))[0]).toMatchObject({ completion_tokens: 90 });
  }
});

it("29: if the client leaves after the beginning, the upstream request is closed and the output is no placeholder", async () => {
  const project = newProject();
  const [start] = piecesOf(messagesCases.find(({ number }) => number === 23)!);
  replies.push({ headers: { "content-type": "text/event-stream" }, pieces: [start!], isOpen: true });
  await ask(message.path, { ...(message.body as object), stream: true }, { project, leavesAfter: 10 });
  await until(() => Promise.resolve(seen.at(-1)!.left));
  const call = await onlyCall(project);
  expect(call.attributes.sumtree).toMatchObject({ usage: "partial", outcome: "aborted" });
  const used = Object.values(await usedBy(project, call.id))[0];
  expect(used).toMatchObject({ prompt_tokens: 10, cache_read_input_tokens: 300, completion_tokens: 0 });
});

it("35: compressed responses are decompressed in the copy only, and a compressed request is read in a copy", async () => {
  const plain = Buffer.from(piecesOf(message)[0]!);
  for (const [encoding, pack, unpack] of [
    ["gzip", gzipSync, gunzipSync],
    ["br", brotliCompressSync, brotliDecompressSync],
  ] as const) {
    const project = newProject();
    const packed = pack(plain);
    replies.push({
      headers: { "content-type": "application/json", "content-encoding": encoding },
      pieces: [packed],
    });
    const came = await ask(message.path, message.body, { project });
    expect(came.bytes.equals(packed)).toBe(true);
    expect([came.headers["content-encoding"], unpack(came.bytes).equals(plain)]).toEqual([encoding, true]);
    const call = await onlyCall(project);
    expect(await usedBy(project, call.id)).toMatchObject(message.used);
  }
  const project = newProject();
  const body = zstdCompressSync(JSON.stringify(completed.body));
  replies.push({
    headers: { "content-type": "application/json" },
    pieces: [
      '{"id":"resp_c0a1B2c3D4e5F6a7C","object":"response.compaction","usage":{"input_tokens":9,"output_tokens":1}}',
    ],
  });
  await ask("/responses/compact", body, { project, headers: { "content-encoding": "zstd" } });
  expect([seen.at(-1)!.body.equals(body), seen.at(-1)!.headers["content-encoding"]]).toEqual([true, "zstd"]);
  const call = await onlyCall(project);
  expect(await usedBy(project, call.id)).toMatchObject({ "gpt-5": { prompt_tokens: 9 } });
});

it("37: a failed attempt and its retry are two calls and one charge", async () => {
  const project = newProject();
  replies.push({
    status: 500,
    headers: { "content-type": "application/json" },
    pieces: ['{"error":{"message":"No."}}'],
  });
  await ask(completed.path, completed.body, {
    project,
    headers: { "x-stainless-retry-count": "0" },
  });
  replies.push({ headers: { "content-type": "application/json" }, pieces: piecesOf(completed) });
  await ask(completed.path, completed.body, {
    project,
    headers: { "x-stainless-retry-count": "1" },
  });
  await nothingLeft(test);
  const calls = await callsOf(project);
  expect(calls.map(({ attributes }) => String(attributes.sumtree["usage"])).toSorted()).toEqual([
    "exact",
    "none",
  ]);
  expect(calls.map(({ attributes }) => attributes.sumtree["retry_count"])).toContain(1);
  const used = await Promise.all(calls.map(({ id }) => usedBy(project, id)));
  expect(used.flatMap((one) => Object.values(one)).map(({ requests }) => requests)).toEqual([1]);
});

it("38: a client's login is relayed with its headers, and never with a key of ours", async () => {
  const project = newProject();
  replies.push({ headers: { "content-type": "application/json" }, pieces: piecesOf(message) });
  await ask("/messages?beta=true", message.body, {
    project,
    headers: {
      authorization: "Bearer sk-ant-oat01-own",
      "anthropic-beta": "oauth-2025-04-20,claude-code-20250219",
      "anthropic-version": "2023-06-01",
      "x-sumtree-key": ROOT_KEY,
    },
  });
  const { headers, url } = seen.at(-1)!;
  expect(headers).toMatchObject({
    authorization: "Bearer sk-ant-oat01-own",
    "anthropic-beta": "oauth-2025-04-20,claude-code-20250219",
    "anthropic-version": "2023-06-01",
  });
  expect(headers["x-api-key"]).toBeUndefined();
  expect([url, JSON.stringify(headers).includes(ROOT_KEY)]).toEqual(["/v1/messages?beta=true", false]);
  expect((await onlyCall(project)).attributes.sumtree).toMatchObject({ billing: "subscription" });
});

const streams = [...responsesCases, ...messagesCases, ...otherCases].filter(
  ({ answer, usage, outcome }) => Array.isArray(answer) && usage === "exact" && outcome === "finished",
);

it("a stream cut within its last event with usage is never recorded as without", async () => {
  expect(new Set(streams.map(({ path }) => path)).size).toBeGreaterThan(2);
  for (const one of new Map(streams.map((stream) => [stream.path, stream])).values()) {
    const pieces = piecesOf(one);
    const at = pieces.findLastIndex((piece) => piece.includes('usage":{'));
    const { length } = Buffer.from(pieces[at]!).subarray(0, pieces[at]!.trimEnd().length);
    const from = pieces[at]!.indexOf('usage":{') + 'usage":{'.length;
    for (const to of [from, Math.ceil((from + length) / 2), length - 1]) {
      const project = newProject();
      const cut = [...pieces.slice(0, at), Buffer.from(pieces[at]!).subarray(0, to)];
      replies.push({ headers: { "content-type": "text/event-stream" }, pieces: cut });
      await ask(one.path, one.body, { project, leavesAfter: 1e9 });
      const { id, attributes } = await onlyCall(project);
      expect(attributes.sumtree["outcome"], `${one.name} at ${to}`).toBe("upstream_cut");
      expect(["estimated", "partial"]).toContain(attributes.sumtree["usage"]);
      const used = Object.values(await usedBy(project, id));
      expect(used.reduce((sum, { total_tokens = 0 }) => sum + total_tokens, 0)).toBeGreaterThan(0);
    }
  }
});

it("one response told to two requests with one idempotency key, in two traces, is charged once", async () => {
  for (const one of [completed, { ...completed, answer: piecesOf(streams[0]!) }]) {
    const project = newProject();
    const isStream = Array.isArray(one.answer);
    const headers = { "content-type": isStream ? "text/event-stream" : "application/json" };
    for (const trace of ["1", "2"]) {
      replies.push({ headers, pieces: piecesOf(one) });
      const traceparent = `00-${trace.repeat(32)}-${"3".repeat(16)}-01`;
      await ask(one.path, one.body, { project, headers: { "idempotency-key": "k", traceparent } });
    }
    await nothingLeft(test);
    const used = await Promise.all((await callsOf(project)).map(({ id }) => usedBy(project, id)));
    const requests = used.flatMap((usage) => Object.values(usage).map((entry) => entry["requests"]));
    expect(requests).toEqual([1]);
  }
});
