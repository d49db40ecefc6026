import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { createGzip } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RawExchange } from "../helpers/raw-http.ts";
import type { Fault } from "../helpers/reference-upstream/faults.ts";
import {
  bearer,
  recordedCall,
  sendTo,
  startGateway,
  startSecondApp,
  type SecondApp,
  type TestGateway,
} from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
let app: SecondApp;
beforeAll(async () => {
  test = await startGateway({
    settings: { UPSTREAM_IDLE_TIMEOUT_MS: "3000" },
    upstream: { usageByDefault: false },
  });
  const gemini = test.upstream.url.replace(/\/v1$/, "");
  app = await startSecondApp(test, { SSE_KEEP_ALIVE_MS: "200", GEMINI_UPSTREAM_URL: gemini });
});
afterAll(async () => {
  await app.close();
  await test.close();
});
beforeEach(() => test.upstream.forget());

const DONE = "data: [DONE]\n\n";
const event = (part: object): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", ...part })}\n\n`;
const chunk = (content: string): string => event({ choices: [{ index: 0, delta: { content } }] });
const STREAM = '{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}';

type Bytes = Extract<Fault, { kind: "bytes" }>;

function play(chunks: Bytes["chunks"], ending: Bytes["ending"] = "end", headers = {}): void {
  test.upstream.fail({ kind: "bytes", chunks, ending, headers });
}

let projects = 0;
const newProject = (): string => `acme/relay-${projects++}`;

/** Asks for a streamed completion, recorded in a project if one is named. */
function stream(project?: string, to: { readonly port: number } = test): RawExchange {
  const lines = project === undefined ? [] : [`openai-project: ${project}`];
  return sendTo(to, "POST /v1/chat/completions", lines, STREAM);
}

const ODD = [
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
  DONE,
];

/** The pieces in which a server sends each event at once. */
async function flushed(encoding: string): Promise<Buffer[]> {
  if (encoding === "identity") return ODD.map((text) => Buffer.from(text));
  const packer = createGzip();
  const pieces: Buffer[] = [];
  for (const text of ODD) {
    packer.write(text);
    await new Promise<void>((resolve) => packer.flush(resolve));
    pieces.push(packer.read() as Buffer);
  }
  return pieces;
}

describe("a stream", () => {
  it.each(["identity", "gzip"])(
    "passes byte for byte, event by event, behind its headers: %s",
    async (encoding) => {
      const pieces = await flushed(encoding);
      for (const project of [undefined, newProject()]) {
        const turns = pieces.map(() => Promise.withResolvers<void>());
        const parts = pieces.flatMap((one, at) => [turns[at]!.promise, one.subarray(0, 9), one.subarray(9)]);
        play(parts, "end", { "content-encoding": encoding });
        const { received, answer } = stream(project);
        await until(() => received().includes("\r\n\r\n"));
        for (const turn of turns) {
          const before = received().length;
          turn.resolve();
          await until(() => received().length > before);
        }
        const { complete, headers, body } = await answer;
        expect([complete, body.equals(Buffer.concat(pieces))]).toEqual([true, true]);
        expect(headers).toMatchObject({
          "content-type": "text/event-stream; charset=utf-8",
          "content-encoding": encoding,
          "cache-control": "no-cache",
          "x-accel-buffering": "no",
          "x-request-id": expect.any(String),
        });
      }
    },
  );

  const finished = event({ choices: [0, 1].map((index) => ({ index, delta: {}, finish_reason: "stop" })) });
  it.each<[string, (string | number)[], Bytes["ending"], string, string?]>([
    ["by silence", [chunk("a")], "hang", chunk("a"), "upstream_timeout"],
    ["by a reset before its first event", [20], "reset", ""],
    ["by a reset, though its choices have finished", [finished, 20], "reset", finished],
    ["in good order, before a choice has finished", [chunk("a")], "end", chunk("a")],
    ["in an event behind its choices", [finished, 'data: {"choi'], "end", finished],
  ])(
    "that ends %s has an error and no regular end",
    async (_how, parts, ...[ending, whole, code = "upstream_broken"]) => {
      const project = newProject();
      play(parts, ending);
      const { status, complete, body } = await stream(project).answer;
      const text = body.toString();
      expect([status, complete, text.slice(0, whole.length)]).toEqual([200, false, whole]);
      const [, error = ""] = /^data: (.*)\n\n$/.exec(text.slice(whole.length))!;
      const message = expect.any(String) as string;
      expect(JSON.parse(error)).toEqual({ error: { message, type: "upstream_error", param: null, code } });
      expect((await recordedCall(test, project)).attributes.sumtree["outcome"]).toBe("upstream_cut");
    },
  );

  it("ends in good order if its end marker lacks the blank line", async () => {
    play([chunk("a"), DONE.trimEnd()]);
    const { complete, body } = await stream().answer;
    expect([complete, body.toString()]).toEqual([true, chunk("a") + DONE.trimEnd()]);
  });
});

describe("keep-alive comments", () => {
  const COMMENT = ": keep-alive\n\n";

  it("are sent only between events, while the upstream is silent", async () => {
    const second = chunk("b");
    play([chunk("a"), 500, second.slice(0, 20), 500, second.slice(20), DONE]);
    const text = (await stream(undefined, app).answer).body.toString();
    expect(text.replaceAll(COMMENT, "")).toBe(chunk("a") + second + DONE);
    expect(text.split(COMMENT).length).toBeGreaterThan(3);
  });

  it("are not sent once an event had an id, because some SDKs would read them as events", async () => {
    play([`id: 1\n${chunk("a")}`, 700, DONE]);
    expect((await stream(undefined, app).answer).body.toString()).toBe(`id: 1\n${chunk("a")}${DONE}`);
  });

  it.each([
    ["", "application/json", '[{"candidates":[]}\n', ',{"candidates":[{"finishReason":"STOP"}]}]'],
    ["?alt=sse", "text/event-stream", "data: {}\n\n", 'data: {"candidates":[{"finishReason":"STOP"}]}\n\n'],
  ])("are not sent in Gemini's streams: %s", async (query, type, begin, end) => {
    play([begin, 700, end], "end", { "content-type": type });
    const line = `POST /v1beta/models/m:streamGenerateContent${query}`;
    expect((await sendTo(app, line, [], "{}").answer).body.toString()).toBe(begin + end);
  });
});

describe("usage that the client did not ask for", () => {
  const counts = { prompt_tokens: 77, completion_tokens: 5, total_tokens: 82 };
  const usage = event({ choices: [], usage: counts });
  const said = `data: {"choices":[],"prompt_filter_results":[]}\n\n${event({
    usage: null,
    choices: [{ index: 0, delta: { content: "Fine." }, finish_reason: "stop" }],
  })}`;
  it.each<[string, (string | number)[], Bytes["ending"], string?]>([
    ["before the end marker", [said + usage + DONE], "end"],
    ["beside the end marker", [said + DONE + usage], "end"],
    ["after the end marker", [said + DONE, 50, usage], "hang"],
    ["without a blank line", [said + DONE, 20, usage.trimEnd()], "end"],
    ["among comments", [said + DONE, 20, ": so\n\n", 20, usage, 20, ": so\n\n"], "end", ": so\n\n: so\n\n"],
    ["never", [said + DONE], "hang"],
  ])("is asked for, recorded and hidden, byte for byte: %s", async (when, parts, ending, behind = "") => {
    const project = newProject();
    play(parts, ending);
    const { complete, body } = await stream(project).answer;
    expect([complete, body.toString()]).toEqual([true, said + DONE + behind]);
    const sent = test.upstream.seen[0]!;
    expect(sent.body.toString()).toBe(STREAM.replace("{", '{"stream_options":{"include_usage":true},'));
    expect(sent.headers["accept-encoding"]).toBe("identity");
    const basis = when === "never" ? "estimated" : "exact";
    const isSo = await recordedCall(test, project, (call) => call.attributes.sumtree["usage"] === basis);
    expect(isSo.attributes.sumtree["outcome"]).toBe("finished");
    if (when !== "never") expect(Object.values(isSo.summary.usage)).toMatchObject([counts]);
  });
});

it(
  "a client that reads slowly slows the upstream down, with bounded memory",
  { timeout: 60_000 },
  async () => {
    const large = chunk("x".repeat(512 * 1024));
    let taken = 0;
    play(
      (function* () {
        for (; taken < 80; taken++) yield large;
        yield DONE;
      })(),
    );
    const url = `${test.baseUrl}/chat/completions`;
    const sent = request(url, { method: "POST", headers: bearer }).end(STREAM);
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
  },
);

it.each(["/chat/completions", "/responses", "/preview/training-jobs", "/files"])(
  "a redirect passes as it came, and is not followed: %s",
  async (path) => {
    const project = newProject();
    const moved = "<h1>moved</h1>";
    const locations = [`${test.upstream.url}${path}/`, path, "https://elsewhere.example/v1/x?a=1"];
    for (const status of [301, 302, 303, 307, 308]) {
      const location = locations[status % locations.length]!;
      test.upstream.forget();
      test.upstream.fail({ kind: "answer", status, body: moved, headers: { location } });
      const lines = status === 307 ? [`x-sumtree-project: ${project}`] : [];
      const { headers, ...came } = await sendTo(test, `POST /v1${path}`, lines, "{}").answer;
      expect([came.status, headers["location"], came.body.toString()]).toEqual([status, location, moved]);
      expect(test.upstream.seen).toHaveLength(1);
    }
    if (path !== "/chat/completions") return;
    expect(await recordedCall(test, project)).toMatchObject({
      attributes: { sumtree: { outcome: "error", usage: "none", status: 307 } },
      exception: "The upstream redirected the request (307).",
    });
  },
);
