import OpenAI from "openai";
import { CursorPage } from "openai/core/pagination";
import OpenAI4 from "openai4";
import { CursorPage as CursorPage4 } from "openai4/pagination";
import OpenAI5 from "openai5";
import { CursorPage as CursorPage5 } from "openai5/core/pagination";
import OpenAI6 from "openai6";
import { CursorPage as CursorPage6 } from "openai6/core/pagination";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Fault } from "../helpers/reference-upstream/faults.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { startReferenceUpstream, type ReferenceUpstream } from "../helpers/reference-upstream/server.ts";
import { startGateway, startSecondApp, type SecondApp, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway({ settings: { CHAT_BODY_LIMIT_BYTES: "100000" } });
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

// the older majors are driven through the newest one's types: what is used of them here is the same in all
type Sdk = typeof OpenAI;
type Page = typeof CursorPage;
const majors: readonly (readonly [string, Sdk, Page])[] = [
  ["4", OpenAI4 as unknown as Sdk, CursorPage4 as unknown as Page],
  ["5", OpenAI5 as unknown as Sdk, CursorPage5 as unknown as Page],
  ["6", OpenAI6 as unknown as Sdk, CursorPage6 as unknown as Page],
  ["7", OpenAI, CursorPage],
];

const messages = [{ role: "user" as const, content: "hello" }];
const chat = { model: "m", messages };
const chunk = (content: string): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta: { content } }] })}\n\n`;
const DONE = "data: [DONE]\n\n";

interface Item {
  readonly id: string;
}
interface Checkpoint extends Item {
  readonly step: number;
}

describe.each(majors)("openai %s", (major, Client, Cursor) => {
  const client = (options: { maxRetries?: number; baseURL?: string } = {}): OpenAI =>
    new Client({ apiKey: ROOT_KEY, baseURL: test.baseUrl, maxRetries: 0, ...options });

  const textOf = async (stream: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<string> => {
    let text = "";
    for await (const part of stream) text += part.choices[0]?.delta.content ?? "";
    return text;
  };

  it("completes, streamed or not, with and without a slash at the end of its base URL", async () => {
    for (const baseURL of [test.baseUrl, `${test.baseUrl}/`]) {
      const whole = await client({ baseURL }).chat.completions.create(chat);
      const streamed = await textOf(
        await client({ baseURL }).chat.completions.create({ ...chat, stream: true }),
      );
      expect(streamed).toBe(whole.choices[0]!.message.content);
      expect(whole._request_id).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it.each<{ fault: Fault; seen: Readonly<Record<string, unknown>> }>([
    {
      fault: {
        kind: "answer",
        status: 422,
        body: '{"detail":[{"loc":["body","n"],"msg":"too many","type":"t"}]}',
      },
      seen: { status: 422, message: "n: too many", param: "n" },
    },
    {
      fault: { kind: "answer", status: 404, body: '{"detail":"Model not found"}' },
      seen: { status: 404, message: "Model not found" },
    },
    {
      fault: {
        kind: "answer",
        status: 429,
        body: '{"error":{"message":"slow","type":"rate","param":null,"code":"rl"}}',
      },
      seen: { status: 429, message: "slow", code: "rl" },
    },
    {
      fault: { kind: "answer", status: 500, body: '{"detail":"workflow error"}' },
      seen: { status: 500, message: "workflow error" },
    },
    {
      fault: { kind: "answer", status: 524, body: "<h1>A timeout occurred</h1>" },
      seen: { status: 524, message: "A timeout occurred" },
    },
    {
      fault: { kind: "reset" },
      seen: { status: 502, message: "The upstream ended", code: "upstream_broken" },
    },
  ])("reads message, code, type, param and request id: $seen", async ({ fault, seen }) => {
    for (const stream of [false, true]) {
      test.upstream.fail(fault);
      const error = await client()
        .chat.completions.create({ ...chat, stream })
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Client.APIError);
      const { requestID, request_id: id4 } = error as { requestID?: string; request_id?: string };
      expect(requestID ?? id4).toMatch(/^[0-9a-f-]{36}$/);
      expect(error).toMatchObject({
        ...seen,
        type: expect.any(String),
        message: expect.stringContaining(String(seen["message"])),
      });
    }
  });

  it("parses our 401, 403, 413 and 422", async () => {
    const anonymous = new Client({ apiKey: "nobody", baseURL: test.baseUrl, maxRetries: 0 });
    await expect(anonymous.chat.completions.create(chat)).rejects.toMatchObject({
      status: 401,
      code: "unauthenticated",
      message: expect.stringContaining("Authentication failed"),
    });
    const large = { ...chat, messages: [{ role: "user" as const, content: "x".repeat(200_000) }] };
    await expect(client().chat.completions.create(large)).rejects.toMatchObject({
      status: 413,
      code: "payload_too_large",
      type: "invalid_request_error",
    });
    await expect(client().get("/preview/models/m/checkpoints?limit=0")).rejects.toMatchObject({
      status: 422,
      param: "limit",
      code: "validation",
    });
  });

  it.each([
    ["by a reset", { kind: "cut", afterEvents: 3, how: "reset" }],
    ["in order, without an end", { kind: "cut", afterEvents: 3, how: "clean" }],
    ["within an event", { kind: "cut", afterEvents: 3, how: "mid_event" }],
  ] as const)("throws a typed error when a stream ends %s", async (_how, fault) => {
    for (let n = 0; n < 5; n++) {
      test.upstream.fail(fault);
      const stream = await client().chat.completions.create({ ...chat, stream: true });
      const error = await textOf(stream).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Client.APIError);
      expect(error).toMatchObject({ code: "upstream_broken", type: "upstream_error" });
    }
  });

  const play = (...chunks: readonly (string | number)[]): void =>
    test.upstream.fail({ kind: "bytes", chunks, ending: "end" });
  const read = async (): Promise<string> =>
    textOf(await client().chat.completions.create({ ...chat, stream: true }));

  it("reads comments, CRLF, fields without a space, and bytes one by one", async () => {
    play(": ping\n\n", chunk("a"), ": ping\n\n", DONE);
    expect(await read()).toBe("a");
    play(chunk("a").replaceAll("\n", "\r\n"), chunk("b").replace("data: ", "data:"), DONE);
    expect(await read()).toBe("ab");
    const bytes = [...Buffer.from(chunk("🌲") + DONE)].map((byte) => Uint8Array.of(byte));
    test.upstream.fail({ kind: "bytes", chunks: bytes, ending: "end" });
    expect(await read()).toBe("🌲");
    play(`id: 1\n${chunk("a")}`, ": ping\n\n", chunk("b"), DONE);
    expect(await read()).toBe("ab");
  });

  it("throws the upstream's own error events, flat ones of vLLM too", async () => {
    play(chunk("a"), 'data: {"error":{"message":"boom","type":"server_error","code":"oom"}}\n\n');
    await expect(read()).rejects.toMatchObject({ code: "oom", message: expect.stringContaining("boom") });
    play(chunk("a"), 'event: error\ndata: {"error":{"message":"boom","type":"t","code":"c"}}\n\n', DONE);
    await expect(read()).rejects.toBeInstanceOf(Client.APIError);
    play(
      chunk("a"),
      'data: {"object":"error","message":"too long","type":"BadRequestError","code":400}\n\n',
      DONE,
    );
    await expect(read()).rejects.toMatchObject({ code: 400, type: "BadRequestError" });
  });

  it("ends if the upstream stays open after the end marker", async () => {
    test.upstream.fail({ kind: "bytes", chunks: [chunk("a"), DONE], ending: "hang" });
    expect(await read()).toBe("a");
    await until(() => test.upstream.open() === 0);
  });

  it("cancels the upstream request if it leaves its loop, or aborts before the first byte", async () => {
    const slow = { ...chat, max_tokens: 1000, vllm_xargs: { delay_ms: 20 }, stream: true as const };
    for await (const _part of await client().chat.completions.create(slow)) break;
    expect(await test.upstream.seen[0]!.left).toBe(true);

    test.upstream.forget();
    test.upstream.fail({ kind: "silence", ms: 60_000 });
    const leave = new AbortController();
    const pending = client().chat.completions.create(chat, { signal: leave.signal });
    pending.catch(() => undefined);
    await until(() => test.upstream.seen.length === 1);
    leave.abort();
    await expect(pending).rejects.toThrow(/abort/i);
    expect(await test.upstream.seen[0]!.left).toBe(true);
  });

  it("makes as many attempts as without the gateway", async () => {
    const down: Fault = {
      kind: "answer",
      status: 500,
      body: '{"detail":"down"}',
      headers: { "retry-after-ms": "5" },
    };
    test.upstream.fail(down, 10);
    await expect(client({ maxRetries: 3 }).get("/preview/training-jobs/j/events")).rejects.toMatchObject({
      status: 500,
    });
    expect(test.upstream.seen.map((seen) => seen.headers["x-stainless-retry-count"])).toEqual([
      "0",
      "1",
      "2",
      "3",
    ]);

    test.upstream.forget();
    test.upstream.fail(down, 10);
    const job = { body: { model_id: "m", trajectory_groups: [] } };
    await expect(client().post("/preview/training-jobs", job)).rejects.toMatchObject({ status: 500 });
    expect(test.upstream.seen).toHaveLength(1);

    test.upstream.forget();
    test.upstream.fail({ kind: "reset" }, 10);
    await expect(client({ maxRetries: 3 }).post("/preview/training-jobs", job)).rejects.toMatchObject({
      status: 502,
    });
    expect(test.upstream.seen).toHaveLength(1);
  });

  it("follows the upstream's retry advice", async () => {
    const busy = (headers: Record<string, string>): Fault => ({
      kind: "answer",
      status: 429,
      body: "{}",
      headers,
    });
    test.upstream.fail(busy({ "x-should-retry": "false" }), 5);
    await expect(client({ maxRetries: 2 }).chat.completions.create(chat)).rejects.toMatchObject({
      status: 429,
    });
    expect(test.upstream.seen).toHaveLength(1);

    test.upstream.forget();
    test.upstream.fail(busy({ "retry-after": "1" }));
    const began = performance.now();
    await client({ maxRetries: 2 }).chat.completions.create(chat);
    expect([test.upstream.seen.length, performance.now() - began > 900]).toEqual([2, true]);
  });

  it("iterates pages, an empty one too", async () => {
    const created = (await client().post("/preview/models", {
      body: { entity: null, project: "p", name: `pages-${major}`, base_model: "b", return_existing: true },
    })) as { id: string };
    const job = (await client().post("/preview/training-jobs", {
      body: { model_id: created.id, trajectory_groups: [{}, {}, {}] },
    })) as { id: string };
    test.upstream.forget();
    const path = `/preview/training-jobs/${job.id}/events`;
    const types: string[] = [];
    for await (const event of client().getAPIList<{ id: string; type: string }>(path, Cursor, {
      query: { limit: 2 },
    })) {
      types.push(event.type);
    }
    expect(types).toEqual([
      "training_started",
      "gradient_step",
      "gradient_step",
      "gradient_step",
      "training_ended",
    ]);
    const urls = test.upstream.seen.map((seen) => new URL(seen.url, "http://u").searchParams);
    expect(urls.map((query) => [query.get("limit"), query.has("after")])).toEqual([
      ["2", false],
      ["2", true],
      ["2", true],
    ]);

    const last = urls.at(-1)!.get("after")!;
    const rest = await client().getAPIList<Item, CursorPage<Item>>(path, Cursor, { query: { after: last } });
    const end = await client().getAPIList<Item, CursorPage<Item>>(path, Cursor, {
      query: { after: rest.data.at(-1)!.id },
    });
    expect(end.data).toEqual([]);
    expect(end.hasNextPage()).toBe(false);
  });
});

describe("the loop of a training client", () => {
  let upstream: ReferenceUpstream;
  let slow: SecondApp;
  beforeAll(async () => {
    upstream = await startReferenceUpstream({ stepMs: 250 });
    slow = await startSecondApp(test, { TRAINING_UPSTREAM_URL: upstream.url });
    client.baseURL = `${slow.url}/v1`;
  });
  afterAll(async () => {
    await slow.close();
    await upstream.close();
  });
  const client = new OpenAI({ apiKey: ROOT_KEY, maxRetries: 3 });
  interface Event {
    readonly id: string;
    readonly type: string;
    readonly data: Readonly<Record<string, unknown>>;
  }

  /** Polls as ART does, with a cursor that does not move over `training_started`. */
  async function train(modelId: string): Promise<{ steps: number; starts: number }> {
    const job = (await client.post("/preview/training-jobs", {
      body: { model_id: modelId, trajectory_groups: [{}, {}, {}, {}] },
      maxRetries: 0,
    })) as { id: string };
    let after: string | undefined;
    let steps = 0;
    let starts = 0;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const query = after === undefined ? {} : { after };
      const path = `/preview/training-jobs/${job.id}/events`;
      for await (const event of client.getAPIList<Event>(path, CursorPage, { query })) {
        if (event.type === "training_started") {
          starts++;
          continue;
        }
        after = event.id;
        if (event.type === "gradient_step") steps++;
        if (event.type === "training_ended") return { steps, starts };
        if (event.type === "training_failed") throw new Error(String(event.data["error_message"]));
      }
    }
  }

  it("sees a job start, restart, step and end, and its new checkpoint", async () => {
    const model = (await client.post("/preview/models", {
      body: { project: "p", name: "agent", base_model: "b" },
    })) as { id: string };
    const { steps, starts } = await train(model.id);
    expect([steps, starts > 1]).toEqual([4, true]);
    const path = `/preview/models/${model.id}/checkpoints`;
    const newest = await client.getAPIList<Checkpoint, CursorPage<Checkpoint>>(path, CursorPage, {
      query: { limit: 1, order: "desc" },
    });
    expect(newest.data[0]!.step).toBe(1);
  });

  it("sees a job fail", async () => {
    const model = (await client.post("/preview/models", {
      body: { project: "p", name: "failing-1", base_model: "b" },
    })) as { id: string };
    await expect(train(model.id)).rejects.toThrow("CUDA out of memory");
  });
});
