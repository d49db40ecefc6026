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
import { isLong } from "../helpers/runs.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { startGateway, type TestGateway } from "../helpers/start-gateway.ts";
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
  ["7", OpenAI, CursorPage],
  ["5", OpenAI5 as unknown as Sdk, CursorPage5 as unknown as Page],
  ["6", OpenAI6 as unknown as Sdk, CursorPage6 as unknown as Page],
];

const chat = { model: "m", messages: [{ role: "user" as const, content: "hello" }] };
const chunk = (content: string): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta: { content } }] })}\n\n`;
const answered = (status: number, body: string, headers = {}): Fault => ({
  kind: "answer",
  status,
  body,
  headers,
});

interface Item {
  readonly id: string;
  readonly type?: string;
  readonly step?: number;
}

describe.each(majors.slice(0, isLong ? undefined : 2))("openai %s", (major, Client, Cursor) => {
  const client = (options: { maxRetries?: number; baseURL?: string; apiKey?: string } = {}): OpenAI =>
    new Client({ apiKey: ROOT_KEY, baseURL: test.baseUrl, maxRetries: 0, ...options });

  async function streamed(from = client()): Promise<string> {
    let text = "";
    for await (const part of await from.chat.completions.create({ ...chat, stream: true }))
      text += part.choices[0]?.delta.content ?? "";
    return text;
  }

  it("completes, streamed or not, with and without a slash at the end of its base URL", async () => {
    for (const baseURL of [test.baseUrl, `${test.baseUrl}/`]) {
      const whole = await client({ baseURL }).chat.completions.create(chat);
      expect(await streamed(client({ baseURL }))).toBe(whole.choices[0]!.message.content);
      expect(whole._request_id).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it.each<readonly [Fault, Readonly<Record<string, unknown>> & { readonly message: string }]>([
    [
      answered(422, '{"detail":[{"loc":["body","n"],"msg":"too many","type":"t"}]}'),
      { status: 422, message: "n: too many", param: "n" },
    ],
    [answered(404, '{"detail":"Model not found"}'), { status: 404, message: "Model not found" }],
    [
      answered(429, '{"error":{"message":"slow","type":"rate","param":null,"code":"rl"}}'),
      { status: 429, message: "slow", code: "rl" },
    ],
    [answered(524, "<h1>A timeout occurred</h1>"), { status: 524, message: "A timeout occurred" }],
    [{ kind: "reset" }, { status: 502, message: "The upstream ended", code: "upstream_broken" }],
  ])("reads message, code, type, param and request id of %j", async (fault, { message, ...told }) => {
    for (const stream of [false, true]) {
      test.upstream.fail(fault);
      const asked = client().chat.completions.create({ ...chat, stream });
      const error: unknown = await asked.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Client.APIError);
      const { requestID, request_id: id4 } = error as { requestID?: string; request_id?: string };
      expect(requestID ?? id4).toMatch(/^[0-9a-f-]{36}$/);
      const texts = { type: expect.any(String), message: expect.stringContaining(message) };
      expect(error).toMatchObject({ ...told, ...texts });
    }
  });

  it("parses our 401, 413 and 422, and errors within a stream", async () => {
    const said = [{ role: "user" as const, content: "x".repeat(200_000) }];
    const list = "/preview/models/m/checkpoints?limit=0";
    for (const [asked, seen] of [
      [() => client({ apiKey: "nobody" }).chat.completions.create(chat), [401, "unauthenticated", null]],
      [() => client().chat.completions.create({ ...chat, messages: said }), [413, "payload_too_large", null]],
      [() => client().get(list), [422, "validation", "limit"]],
    ] as const) {
      const [status, code, param] = seen;
      await expect(asked()).rejects.toMatchObject({ status, code, param });
    }
    for (const how of ["reset", "clean", "mid_event"] as const) {
      test.upstream.fail({ kind: "cut", afterEvents: 3, how });
      const error: unknown = await streamed().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Client.APIError);
      expect(error).toMatchObject({ code: "upstream_broken", type: "upstream_error" });
    }
    const flat = 'data: {"object":"error","message":"too long","type":"BadRequestError","code":400}\n\n';
    test.upstream.fail({ kind: "bytes", chunks: [chunk("a"), flat], ending: "end" });
    await expect(streamed()).rejects.toMatchObject({ code: 400, type: "BadRequestError" });
  });

  it("ends if the upstream stays open after the end marker", async () => {
    test.upstream.fail({ kind: "bytes", chunks: [chunk("a"), "data: [DONE]\n\n"], ending: "hang" });
    expect(await streamed()).toBe("a");
    await until(() => test.upstream.open() === 0);
  });

  it("makes as many attempts as without the gateway", async () => {
    const down = answered(500, '{"detail":"down"}', { "retry-after-ms": "5" });
    const busy = answered(429, "{}", { "x-should-retry": "false" });
    const job = { body: { model_id: "m", trajectory_groups: [] } };
    const events = (maxRetries: number) => client({ maxRetries }).get("/preview/training-jobs/j/events");
    for (const [fault, ask, status, attempts] of [
      [down, () => events(2), 500, ["0", "1", "2"]],
      [busy, () => events(2), 429, ["0"]],
      [{ kind: "reset" }, () => client({ maxRetries: 2 }).post("/preview/training-jobs", job), 502, ["0"]],
    ] as const) {
      test.upstream.forget();
      test.upstream.fail(fault, 10);
      await expect(ask()).rejects.toMatchObject({ status });
      expect(test.upstream.seen.map(({ headers }) => headers["x-stainless-retry-count"])).toEqual(attempts);
    }
  });

  it("trains: it iterates the events of a job, to an empty page, and reads the checkpoint", async () => {
    const body = { entity: null, project: "p", name: `pages-${major}`, base_model: "b" };
    const model = (await client().post("/preview/models", { body })) as Item;
    const asked = { model_id: model.id, trajectory_groups: [{}, {}, {}] };
    const job = (await client().post("/preview/training-jobs", { body: asked })) as Item;
    test.upstream.forget();
    const list = (path: string, query: object) =>
      client().getAPIList<Item, CursorPage<Item>>(path, Cursor, { query });
    const path = `/preview/training-jobs/${job.id}/events`;
    const events: Item[] = [];
    for await (const event of list(path, { limit: 2 })) events.push(event);
    const steps = Array.from({ length: 3 }, () => "gradient_step");
    expect(events.map(({ type }) => type)).toEqual(["training_started", ...steps, "training_ended"]);
    const queries = test.upstream.seen.map((seen) => new URL(seen.url, "http://u").searchParams);
    expect(queries.map((query) => [query.get("limit"), query.has("after")])).toEqual([
      ["2", false],
      ["2", true],
      ["2", true],
    ]);
    const end = await list(path, { after: events.at(-1)!.id });
    expect([end.data, end.hasNextPage()]).toEqual([[], false]);
    const newest = await list(`/preview/models/${model.id}/checkpoints`, { limit: 1, order: "desc" });
    expect(newest.data[0]!.step).toBe(1);
  });
});
