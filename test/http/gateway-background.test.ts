import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLong } from "../helpers/runs.ts";
import { authorization, ROOT_KEY, startApp, startAppOn, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

/** A provider whose responses in the background end when the test says so. */
const responses = new Map<string, Record<string, unknown>>();
const asked: string[] = [];
let provider: Server;
let url: string;
let made = 0;
let fails = false;
const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };

const eventOf = (type: string, response: object, sequence_number: number): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, response })}\n\n`;

function create(body: Record<string, unknown>): Record<string, unknown> {
  const id = `resp_0aB1cD2eF3gH4iJ5k${made++}`;
  const response = {
    id,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    background: body["background"] === true,
    status: body["background"] === true ? "queued" : "completed",
    model: body["model"],
    output: [],
    error: null,
    usage: body["background"] === true ? null : usage,
  };
  responses.set(id, response);
  return response;
}

const end = (id: string, more: object): void => void responses.set(id, { ...responses.get(id), ...more });
const complete = (id: string): void => end(id, { status: "completed", usage });

let test: TestApp;
let baseURL: string;
const openAi = (project: string, apiKey = ROOT_KEY): OpenAI =>
  new OpenAI({ apiKey, baseURL, project, maxRetries: 0 });

beforeAll(async () => {
  provider = createServer((request, answer) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
      const path = request.url!;
      asked.push(`${request.method} ${path}`);
      answer.setHeader("content-type", "application/json");
      if (fails) return answer.writeHead(500).end('{"error":{"message":"No."}}');
      const [, id = "", below = ""] = /^\/v1\/responses\/([^/?]+)\/?([^?]*)/.exec(path) ?? [];
      if (!path.startsWith("/v1/responses") || path.endsWith("/input_tokens")) return answer.end("{}");
      if (id === "") {
        const body = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
        const response = create(body);
        if (body["stream"] !== true) return answer.end(JSON.stringify(response));
        answer.setHeader("content-type", "text/event-stream");
        answer.write(eventOf("response.created", response, 0));
        while (responses.get(String(response["id"]))!["status"] === "queued" && !answer.destroyed)
          await delay(5);
        return answer.end(eventOf("response.completed", responses.get(String(response["id"]))!, 1));
      }
      if (request.method === "DELETE") return answer.end('{"deleted":true}');
      if (below === "cancel") end(id, { status: "cancelled" });
      const response = responses.get(id);
      if (response === undefined) return answer.writeHead(404).end('{"error":{"message":"None."}}');
      if (!path.includes("stream=true")) return answer.end(JSON.stringify(response));
      answer.setHeader("content-type", "text/event-stream");
      return answer.end(eventOf("response.completed", response, 2));
    })();
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  test = await startApp({
    settings: { CHAT_UPSTREAM_URL: url, GATEWAY_PASSTHROUGH_PATHS: "/videos" },
  });
  baseURL = `${await test.app.listen({ host: "127.0.0.1", port: 0 })}/v1`;
});
afterAll(async () => {
  await test.close();
  provider.closeAllConnections();
  await new Promise((resolve) => provider.close(resolve));
});

interface StoredCall {
  readonly id: string;
  readonly ended_at: string | null;
  readonly output: { readonly status?: string } | null;
  readonly inputs: object;
  readonly attributes: { readonly sumtree: { readonly usage: string; readonly outcome: string } };
}

async function callsOf(project_id: string): Promise<StoredCall[]> {
  const { text } = await test.post("/calls/stream_query", { project_id });
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as StoredCall);
}

async function sums(project_id: string) {
  const { call_usage, unfinished_call_ids } = (await test.post("/trace/usage", { project_id })).json() as {
    call_usage: Record<string, Record<string, { requests: number; total_tokens: number }>>;
    unfinished_call_ids: string[];
  };
  const used = Object.values(call_usage).flatMap((one) => Object.values(one));
  return {
    requests: used.reduce((sum, { requests }) => sum + requests, 0),
    total: used.reduce((sum, { total_tokens }) => sum + total_tokens, 0),
    unfinished: unfinished_call_ids,
  };
}

async function metricsOf({ app }: TestApp): Promise<string> {
  return (await app.inject({ url: "/metrics", headers: { authorization: authorization() } })).payload;
}

async function callWhen(project: string, isSo: (call: StoredCall) => boolean): Promise<StoredCall> {
  await until(async () => (await callsOf(project)).some(isSo));
  const calls = await callsOf(project);
  expect(calls).toHaveLength(1);
  return calls[0]!;
}

const isPending = ({ ended_at }: StoredCall): boolean => ended_at === null;
const isOver = ({ ended_at }: StoredCall): boolean => ended_at !== null;
let projects = 0;
const newProject = (): string => `acme/background-${projects++}`;
const input = { model: "gpt-5", input: "Hello", background: true } as const;

describe("a response in the background is one call", () => {
  it("12, 13: pending without usage, then charged once, for any number of polls", async () => {
    const project = newProject();
    const client = openAi(project);
    const data = await client.responses.create(input);
    const pending = await callWhen(project, isPending);
    expect(pending.attributes.sumtree).toMatchObject({ usage: "none", outcome: "pending" });
    expect(await sums(project)).toEqual({ requests: 0, total: 0, unfinished: [pending.id] });
    expect((await client.responses.retrieve(data.id)).status).toBe("queued");
    fails = true;
    await expect(client.responses.retrieve(data.id)).rejects.toThrow();
    fails = false;
    expect((await callsOf(project)).every(isPending)).toBe(true);
    complete(data.id);
    await Promise.all([1, 2, 3].map(() => client.responses.retrieve(data.id)));
    const call = await callWhen(project, isOver);
    for (let poll = 0; poll < 5; poll++) await client.responses.retrieve(data.id);
    await delay(250);
    expect(await callsOf(project)).toHaveLength(1);
    expect([call.id, call.output?.status]).toEqual([pending.id, "completed"]);
    expect(call.inputs).toMatchObject({ input: "Hello" });
    expect(call.attributes.sumtree).toMatchObject({ usage: "exact", outcome: "finished" });
    expect(await sums(project)).toEqual({ requests: 1, total: 120, unfinished: [] });
  });

  it("14: a stream that is left, resumed, and cancelled after its end", async () => {
    const project = newProject();
    const client = openAi(project);
    const stream = await client.responses.create({ ...input, stream: true });
    let id = "";
    for await (const event of stream) {
      if (event.type === "response.created") id = event.response.id;
      break;
    }
    await callWhen(project, isPending);
    expect((await sums(project)).total).toBe(0);
    complete(id);
    const resumed = await client.responses.retrieve(id, { stream: true, starting_after: 0 });
    for await (const _ of resumed);
    await client.responses.cancel(id);
    const call = await callWhen(project, isOver);
    await delay(250);
    expect(call.attributes.sumtree).toMatchObject({ usage: "exact", outcome: "finished" });
    expect(await sums(project)).toEqual({ requests: 1, total: 120, unfinished: [] });
  });

  it("a stream that is read completely", async () => {
    const project = newProject();
    const stream = await openAi(project).responses.create({ ...input, stream: true });
    for await (const event of stream) if (event.type === "response.created") complete(event.response.id);
    await callWhen(project, isOver);
    expect(await sums(project)).toEqual({ requests: 1, total: 120, unfinished: [] });
  });

  it.each(["completed", "incomplete", "failed", "cancelled"])(
    "is estimated if it is %s with output and without usage",
    async (status) => {
      const project = newProject();
      const client = openAi(project);
      const { id } = await client.responses.create(input);
      const text = { type: "output_text", text: "Four bytes each.", annotations: [] };
      const search = { type: "web_search_call", action: { type: "search" } };
      end(id, { status, output: [search, { type: "message", content: [text] }] });
      for (let poll = 0; poll < 2; poll++) await client.responses.retrieve(id);
      const call = await callWhen(project, isOver);
      expect(call.attributes.sumtree).toMatchObject({ usage: "estimated" });
      // five bytes asked and sixteen written
      expect(await sums(project)).toEqual({ requests: 1, total: 2 + 4, unfinished: [] });
      const receipt = await test.post("/call/receipt", { project_id: project, call_id: call.id });
      expect(receipt.json()).toMatchObject({
        lines: expect.arrayContaining([expect.objectContaining({ unit: "web_searches", quantity: 1 })]),
      });
    },
  );

  it("has no usage if cancelled", async () => {
    const project = newProject();
    const client = openAi(project);
    const { id } = await client.responses.create(input);
    await client.responses.cancel(id);
    const call = await callWhen(project, isOver);
    expect(call.attributes.sumtree).toMatchObject({ usage: "none", outcome: "aborted" });
    expect((await sums(project)).unfinished).toEqual([]);
  });

  // depends on the seconds that a replica waits for another to store the call
  it.runIf(isLong)("if another replica sees its end before the pending call is stored", async () => {
    const project = newProject();
    const second = await startAppOn(test.engine, { settings: { CHAT_UPSTREAM_URL: url } });
    const secondUrl = await second.app.listen({ host: "127.0.0.1", port: 0 });
    const other = new OpenAI({ apiKey: ROOT_KEY, baseURL: `${secondUrl}/v1`, project, maxRetries: 0 });
    const { id } = await openAi(project).responses.create(input);
    complete(id);
    await other.responses.retrieve(id);
    await openAi(project).responses.retrieve(id);
    await callWhen(project, isOver);
    await until(async () => /sumtree_gateway_completions_pending 0\n/.test(await metricsOf(second)));
    expect(await callsOf(project)).toHaveLength(1);
    expect(await sums(project)).toEqual({ requests: 1, total: 120, unfinished: [] });
    await second.close();
  });

  it("after a restart, and at another replica", async () => {
    const project = newProject();
    const { id } = await openAi(project).responses.create(input);
    const pending = await callWhen(project, isPending);
    const second = await startAppOn(test.engine, { settings: { CHAT_UPSTREAM_URL: url } });
    complete(id);
    const secondUrl = await second.app.listen({ host: "127.0.0.1", port: 0 });
    const other = new OpenAI({ apiKey: ROOT_KEY, baseURL: `${secondUrl}/v1`, project, maxRetries: 0 });
    for (let poll = 0; poll < 3; poll++) {
      expect(await other.responses.retrieve(id)).toMatchObject({ id, status: "completed" });
    }
    await second.close();
    const call = await callWhen(project, isOver);
    expect(call.id).toBe(pending.id);
    expect(call.attributes.sumtree).toMatchObject({ usage: "exact", outcome: "finished" });
    expect(await sums(project)).toEqual({ requests: 1, total: 120, unfinished: [] });
    await openAi(project).responses.retrieve(id);
    await delay(250);
    expect(await sums(project)).toEqual({ requests: 1, total: 120, unfinished: [] });
  });
});

describe("a response retrieved by its id", () => {
  it("that was recorded when created is not charged again", async () => {
    const project = newProject();
    const client = openAi(project);
    const { id } = await client.responses.create({ ...input, background: false });
    await client.responses.retrieve(id);
    await callWhen(project, isOver);
    await delay(250);
    expect(await sums(project)).toEqual({ requests: 1, total: 120, unfinished: [] });
  });

  it("that was created elsewhere is recorded once, and only with usage", async () => {
    const project = newProject();
    const { id } = create({ model: "gpt-5", background: true }) as { id: string };
    const client = openAi(project);
    await client.responses.retrieve(id);
    end(id, { status: "completed", output: [{ type: "message", content: "Hello" }] });
    await client.responses.retrieve(id);
    complete(id);
    for (let poll = 0; poll < 3; poll++) await client.responses.retrieve(id);
    await callWhen(project, isOver);
    await client.responses.retrieve(id);
    await delay(250);
    expect(await callsOf(project)).toHaveLength(1);
    expect(await sums(project)).toEqual({ requests: 1, total: 120, unfinished: [] });
    await expect(client.responses.retrieve("resp_none")).rejects.toThrow("404");
  });

  it("returns 404 to a key of another project", async () => {
    const project = newProject();
    const { id } = await openAi(project).responses.create(input);
    const key = await test.app.inject({
      method: "POST",
      url: "/api-keys",
      headers: { authorization: authorization() },
      payload: { name: "other", scopes: ["train"], projects: ["acme/other"] },
    });
    const before = asked.length;
    const other = openAi("acme/other", key.json<{ key: string }>().key);
    await expect(other.responses.retrieve(id)).rejects.toThrow("404");
    await expect(other.responses.cancel(id)).rejects.toThrow("404");
    await expect(other.responses.delete(id)).rejects.toThrow("404");
    expect(asked).toHaveLength(before);
  });
});

describe("requests without counted tokens", () => {
  it("are counted by the entry that passes them if they may use something, and are no calls", async () => {
    const headers = { authorization: `Bearer ${ROOT_KEY}`, "x-sumtree-project": newProject() };
    const send = (path: string, method: string): Promise<Response> =>
      fetch(baseURL + path, { method, headers, body: method === "POST" ? "{}" : null });
    const passed = [await send("/videos", "POST"), await send("/videos/secret-id?key=secret", "POST")];
    await send("/responses/input_tokens", "POST");
    await send("/videos", "GET");
    expect(passed.map(({ headers }) => headers.get("x-sumtree-call-id"))).toEqual([null, null]);
    const counted = (await metricsOf(test)).match(/^sumtree_gateway_unmetered_total.*$/gm);
    expect(counted).toEqual(['sumtree_gateway_unmetered_total{path="/videos"} 2']);
  });
});
