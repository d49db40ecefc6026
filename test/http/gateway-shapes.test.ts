import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { param, sql } from "../../src/query/sql.ts";
import { splitAt } from "../helpers/random-splits.ts";
import { head, sendRaw, type RawResponse } from "../helpers/raw-http.ts";
import { runs } from "../helpers/runs.ts";
import { seededRandom } from "../helpers/seeded-random.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { bearer, startGateway, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway();
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

interface Recorded {
  readonly usage: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly output: Readonly<Record<string, unknown>> | null;
  readonly marks: Readonly<Record<string, unknown>>;
  readonly exception: string;
}

let projects = 0;

/** Sends a completion through the gateway to an upstream that answers with these bytes; returns both sides of it. */
async function complete(
  bytes: Uint8Array,
  headers: Readonly<Record<string, string>>,
  { cuts = [], ending = "end" }: { cuts?: readonly number[]; ending?: "end" | "reset" } = {},
): Promise<{ answer: RawResponse; recorded: Recorded }> {
  const project = `acme/shapes-${projects++}`;
  const chunks = splitAt(Buffer.from(bytes), cuts).filter((chunk) => chunk.length > 0);
  test.upstream.fail({ kind: "bytes", chunks: [...chunks, 5], headers, ending });
  const body = '{"model":"asked-1","messages":[{"role":"user","content":"12345678"}]}';
  const lines = ["host: g", `authorization: Bearer ${ROOT_KEY}`, `openai-project: ${project}`];
  const exchange = sendRaw(
    test.port,
    head("POST /v1/chat/completions HTTP/1.1", ...lines, `content-length: ${body.length}`),
    body,
  );
  const response = await exchange.answer;
  return { answer: response, recorded: await recordedIn(project) };
}

async function recordedIn(project: string): Promise<Recorded> {
  const rows = (): Promise<Record<"summary" | "output" | "attributes" | "exception", string>[]> =>
    test.engine.rows(
      sql`SELECT summary, output, attributes, exception FROM calls FINAL WHERE project_id = ${param("String", project)}`,
      { name: "test" },
    );
  await until(async () => (await rows()).length === 1);
  const [row] = await rows();
  return {
    usage: (JSON.parse(row!.summary) as { usage: Recorded["usage"] }).usage,
    output: JSON.parse(row!.output) as Recorded["output"],
    marks: (JSON.parse(row!.attributes) as { sumtree: Recorded["marks"] }).sumtree,
    exception: row!.exception,
  };
}

const USAGE = { prompt_tokens: 30_000, completion_tokens: 12_000, total_tokens: 42_000 };
const FACTS = { id: "chatcmpl-7", model: "served-1", service_tier: "flex" };
const ids = (count: number): number[] => Array.from({ length: count }, (_, at) => 150_000 - at);
const choices = [
  {
    index: 0,
    message: { role: "assistant", content: 'naïve 🌲 "x"\n' },
    logprobs: { content: ids(3) },
    finish_reason: "stop",
  },
];

/** Members of a completion in some order; with token ids it is of megabytes. */
function completion(order: readonly string[], idCount: number): Buffer {
  const members: Record<string, unknown> = {
    ...FACTS,
    object: "chat.completion",
    choices,
    usage: USAGE,
    prompt_token_ids: ids(idCount),
  };
  return Buffer.from(JSON.stringify(Object.fromEntries(order.map((name) => [name, members[name]]))));
}

/** The same as a stream; with token ids its first event is too large to hold. */
function stream(
  idCount: number,
  { done = true, usage = true }: { done?: boolean; usage?: boolean } = {},
): Buffer {
  const chunk = (part: object): string => `data: ${JSON.stringify({ ...FACTS, ...part })}\n\n`;
  const delta = (content: string, reason: string | null = null): object => ({
    choices: [{ index: 0, delta: { content }, finish_reason: reason }],
  });
  const events = [
    chunk({ prompt_token_ids: ids(idCount), ...delta("naïve ") }),
    chunk(delta('🌲 "x"\n')),
    chunk(delta("", "stop")),
    ...(usage ? [chunk({ choices: [], usage: USAGE })] : []),
    ...(done ? ["data: [DONE]\n\n"] : []),
  ];
  return Buffer.from(events.join(""));
}

/** The slowest qualities would hold everything else up. */
const brotli = (plain: Buffer): Buffer =>
  brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });

const encodings: Readonly<Record<string, (plain: Buffer) => Buffer>> = {
  identity: (plain) => plain,
  gzip: (plain) => gzipSync(plain),
  "x-gzip": (plain) => gzipSync(plain),
  deflate: (plain) => deflateSync(plain),
  "deflate ": (plain) => deflateRawSync(plain),
  br: (plain) => brotli(plain),
  zstd: (plain) => zstdCompressSync(plain),
};
const JSON_TYPES = [
  "application/json",
  "application/json; charset=utf-8",
  "text/plain",
  "text/html",
  "application/x-nobody",
];
const EVENT_TYPES = [
  "text/event-stream",
  "text/event-stream; charset=utf-8",
  "text/plain",
  "application/json",
];

describe("a completion", () => {
  it("is recorded with the provider's count, model and id, for any order of members, size, chunks, media type and encoding", async () => {
    const random = seededRandom();
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)]!;
    const completions = runs(5, 100);
    for (let run = 0; run < completions; run++) {
      const idCount = pick([0, 10, 30_000, 350_000]);
      const isStream = random.next() < 0.5;
      const order = [...Object.keys(FACTS), "choices", "usage", "prompt_token_ids"]
        .map((name) => [random.next(), name] as const)
        .toSorted(([a], [b]) => a - b)
        .map(([, name]) => name);
      const plain = isStream ? stream(idCount, { done: random.next() < 0.5 }) : completion(order, idCount);
      const encoding = pick(Object.keys(encodings));
      const bytes = encodings[encoding]!(plain);
      const type = pick(isStream ? EVENT_TYPES : JSON_TYPES);
      const headers = {
        "content-type": type,
        ...(encoding === "identity" ? {} : { "content-encoding": encoding.trim() }),
      };
      const cuts = Array.from({ length: Math.floor(random.next() * 6) }, () =>
        Math.floor(random.next() * 1e9),
      );
      const { answer, recorded } = await complete(bytes, headers, { cuts });
      const what = JSON.stringify({ run, isStream, order, idCount, headers, cuts });
      expect([answer.status, answer.complete, answer.body.equals(bytes)], what).toEqual([200, true, true]);
      expect(recorded, what).toMatchObject({
        usage: { "served-1": { ...USAGE, requests: 1, service_tier: FACTS.service_tier } },
        output: { ...FACTS, choices: [{ message: { content: 'naïve 🌲 "x"\n' }, finish_reason: "stop" }] },
        marks: { outcome: "finished", usage: "exact" },
      });
    }
  });
});

describe("a response without usage", () => {
  const error = '{"error":{"message":"no such model","type":"x"}}';
  const events = { "content-type": "text/event-stream" };
  it.each([
    ["200 with an error", 200, error, {}],
    ["200 with an error in plain text", 200, error, { "content-type": "text/plain" }],
    ["200 with a flat error", 200, '{"object":"error","message":"no such model","code":404}', {}],
    ["200 with an error that is a text", 200, '{"error":"no such model"}', {}],
    ["200 with a detail alone", 200, '{"detail":"no such model"}', {}],
    ["200 with issues alone", 200, '{"detail":[{"loc":["body"],"msg":"no such model","type":"t"}]}', {}],
    ["a choice that is an error", 200, '{"choices":[{"error":{"code":502,"message":"no such model"}}]}', {}],
    ["a stream of a detail", 200, 'data: {"detail":"no such model"}\n\n', events],
    ["a stream that Groq ends", 200, 'data: {"choices":[],"x_groq":{"error":"no such model"}}\n\n', events],
    [
      "a stream that OpenRouter aborts",
      200,
      'data: {"error":{"message":"no such model"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}\n\n',
      events,
    ],
    ["a stream of an error", 200, `data: ${error}\n\n`, events],
    ["400", 400, error, {}],
  ])("is recorded as an error without usage: %s", async (_what, status, body, headers) => {
    const project = `acme/nothing-${projects++}`;
    test.upstream.fail({ kind: "answer", status, body, headers });
    const response = await post(project);
    expect([response.status, await response.text()]).toEqual([status, body]);
    expect(await recordedIn(project)).toMatchObject({
      usage: {},
      marks: { outcome: "error", usage: "none" },
      exception: "no such model",
    });
  });

  const failed = `{"error":{"message":"no such model"},"usage":${JSON.stringify(USAGE)}}`;
  it.each([
    ["200", 200, failed, {}],
    ["500", 500, failed, {}],
    ["a stream", 200, `data: ${failed}\n\n`, events],
  ])("but is charged the usage that it reports: %s", async (_what, status, body, headers) => {
    const project = `acme/nothing-${projects++}`;
    test.upstream.fail({ kind: "answer", status, body, headers });
    expect(await (await post(project)).text()).toBe(body);
    expect(await recordedIn(project)).toMatchObject({
      usage: { "asked-1": USAGE },
      marks: { outcome: "error", usage: "exact" },
      exception: "no such model",
    });
  });

  it("is recorded so for a redirect, too", async () => {
    const project = `acme/nothing-${projects++}`;
    const headers = { location: "https://elsewhere.example/v1/chat/completions" };
    test.upstream.fail({ kind: "answer", status: 307, body: "<h1>moved</h1>", headers });
    const response = await post(project);
    expect([response.status, response.headers.get("location")]).toEqual([307, headers.location]);
    expect(await recordedIn(project)).toMatchObject({
      usage: {},
      marks: { outcome: "error", usage: "none", status: 307 },
      exception: "The upstream redirected the request (307).",
    });
  });
});

function post(project: string): Promise<Response> {
  return fetch(`${test.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { ...bearer, "openai-project": project },
    body: '{"model":"asked-1","messages":[]}',
    redirect: "manual",
  });
}

describe("a stream without its end marker", () => {
  const headers = { "content-type": "text/event-stream" };

  const two = (reason: string | null): string =>
    `data: ${JSON.stringify({ choices: [0, 1].map((index) => ({ index, delta: {}, finish_reason: index === 0 ? "stop" : reason })) })}\n\n`;
  it.each([
    ["a choice has not finished", two(null), "end"],
    ["it breaks off in the middle of an event", `${two("length")}data: {"choi`, "end"],
    ["the connection is reset", two("length"), "reset"],
  ] as const)("is cut when %s", async (_what, text, ending) => {
    const { answer, recorded } = await complete(Buffer.from(text), headers, { ending });
    expect([answer.complete, answer.body.toString()]).toEqual([
      false,
      expect.stringMatching(/data: \{"error":\{.*\}\}\n\n$/),
    ]);
    expect(recorded.marks["outcome"]).toBe("upstream_cut");
  });
});

describe("a stream that the relay cannot parse", () => {
  it.each([
    ["finished", stream(0)],
    ["upstream_cut", stream(0).subarray(0, stream(0).indexOf('"stop"'))],
  ])("is %s according to its events", async (outcome, plain) => {
    const headers = { "content-type": "text/event-stream", "content-encoding": "gzip" };
    const { recorded } = await complete(gzipSync(plain), headers);
    expect(recorded.marks["outcome"]).toBe(outcome);
  });
});

describe("the name of a project", () => {
  it.each(["a/b/c", "proj_1", "/x", "x/", "a b/c"])(
    "that is invalid passes without recording: %s",
    async (name) => {
      const response = await post(name);
      expect([response.status, response.headers.get("x-sumtree-call-id")]).toEqual([200, null]);
      expect(response.headers.get("x-sumtree-recorded")).toBe("no; reason=not_a_project");
      expect(test.upstream.seen[0]!.headers["openai-project"]).toBe(name);
    },
  );

  it("in UTF-8 is decoded, and relayed unchanged", async () => {
    const name = "acme/größe-🌲";
    const bytes = Buffer.from(name).toString("latin1");
    const response = await post(bytes);
    expect(response.headers.get("x-sumtree-call-id")).toEqual(expect.any(String));
    expect((await recordedIn(name)).marks["outcome"]).toBe("finished");
    expect(test.upstream.seen[0]!.headers["openai-project"]).toBe(bytes);
  });
});
