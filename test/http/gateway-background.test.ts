import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { budgetsOf, NOTHING, setBudget, settledBudget, type ShownBudget } from "../helpers/budgeted.ts";
import { startProvided, type ProvidedApp } from "../helpers/provider.ts";
import {
  awaitCalls,
  callsOf,
  metricsOf,
  nothingLeft,
  usageOf,
  type RecordedCall,
} from "../helpers/recorded-calls.ts";
import { isLong } from "../helpers/runs.ts";
import { ROOT_KEY, startAppOn } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

type Json = Record<string, unknown>;

/** A provider whose responses in the background end when the test says so. */
const responses = new Map<string, Json>();
let made = 0;
let fails = false;
const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };

const eventOf = (type: string, response: object, sequence_number: number): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, response })}\n\n`;

function create({ background = false, model }: Json): { readonly id: string } {
  const id = `resp_0aB1cD2eF3gH4iJ5k${made++}`;
  const state = background === true ? { status: "queued", usage: null } : { status: "completed", usage };
  const created_at = Math.floor(Date.now() / 1000);
  const response = {
    id,
    object: "response",
    created_at,
    background,
    model,
    output: [],
    error: null,
    ...state,
  };
  responses.set(id, response);
  return response;
}

const end = (id: string, more: object): void => void responses.set(id, { ...responses.get(id), ...more });
const complete = (id: string): void => end(id, { status: "completed", usage });

let test: ProvidedApp;
let baseURL: string;
const openAi = (project: string, apiKey = ROOT_KEY, url = baseURL): OpenAI =>
  new OpenAI({ apiKey, baseURL: url, project, maxRetries: 0 });

const settingsOf = (origin: string) => ({
  CHAT_UPSTREAM_URL: `${origin}/v1`,
  GATEWAY_PASSTHROUGH_PATHS: "/videos",
});
beforeAll(async () => {
  test = await startProvided(async ({ method, url, body }, answer) => {
    if (fails) return answer.writeHead(500).end('{"error":{"message":"No."}}');
    const [, id = "", below = ""] = /^\/v1\/responses\/([^/?]+)\/?([^?]*)/.exec(url) ?? [];
    if (!url.startsWith("/v1/responses") || url.endsWith("/input_tokens")) return answer.end("{}");
    if (id === "") {
      const asked = JSON.parse(body.toString()) as Json;
      const response = create(asked);
      if (asked["stream"] !== true) return answer.end(JSON.stringify(response));
      answer.setHeader("content-type", "text/event-stream");
      answer.write(eventOf("response.created", response, 0));
      await until(() => responses.get(response.id)!["status"] !== "queued" || answer.destroyed);
      return answer.end(eventOf("response.completed", responses.get(response.id)!, 1));
    }
    if (method === "DELETE") return answer.end('{"deleted":true}');
    if (below === "cancel") end(id, { status: "cancelled" });
    const response = responses.get(id);
    if (response === undefined) return answer.writeHead(404).end('{"error":{"message":"None."}}');
    if (!url.includes("stream=true")) return answer.end(JSON.stringify(response));
    answer.setHeader("content-type", "text/event-stream");
    return answer.end(eventOf("response.completed", response, 2));
  }, settingsOf);
  baseURL = `${test.origin}/v1`;
});
afterAll(() => test.close());

async function sums(project: string) {
  const { call_usage, unfinished_call_ids: unfinished } = await usageOf(test, project);
  const used = Object.values(call_usage).flatMap((one) => Object.values(one));
  const sum = (name: string): number => used.reduce((total, { [name]: count = 0 }) => total + count, 0);
  return { requests: sum("requests"), total: sum("total_tokens"), unfinished };
}

/** The only call of a project, once it is pending. */
async function pendingCall(project: string): Promise<RecordedCall> {
  const [call] = await awaitCalls(test, project, 1);
  expect(call!.ended_at).toBeNull();
  return call!;
}

/** The only call of a project, once it has ended; the usage of one response by default. */
async function endedCall(project: string, marks: object = {}, total = 120): Promise<RecordedCall> {
  await nothingLeft(test);
  const [call, ...others] = await callsOf(test, project);
  expect(call!.ended_at).not.toBeNull();
  expect(others).toEqual([]);
  expect(call!.attributes.sumtree).toMatchObject({ usage: "exact", outcome: "finished", ...marks });
  expect(await sums(project)).toEqual({ requests: 1, total, unfinished: [] });
  return call!;
}

async function replica(project: string) {
  const app = await startAppOn(test.engine, { settings: settingsOf(test.provider.origin) });
  const url = await app.app.listen({ host: "127.0.0.1", port: 0 });
  return { app, client: openAi(project, ROOT_KEY, `${url}/v1`) };
}

let projects = 0;
function newProject() {
  const project = `acme/background-${projects++}`;
  return { project, client: openAi(project) };
}
const input = { model: "gpt-5", input: "Hello", background: true } as const;

describe("a response in the background is one call", () => {
  it("keeps its hold of a budget until its end is seen", async () => {
    const { project, client } = newProject();
    await setBudget(test, project, { limit: { requests: 1 } });
    const { id } = await client.responses.create({ ...input, max_output_tokens: 50 });
    await pendingCall(project);
    const [{ spent, held }] = (await budgetsOf(test, project)) as [ShownBudget];
    expect([spent, held.requests]).toEqual([NOTHING, 1]);
    await expect(client.responses.create(input)).rejects.toMatchObject({ status: 429, code: "budget_held" });
    // a poll passes, and so does a cancel
    expect((await client.responses.retrieve(id)).status).toBe("queued");
    complete(id);
    await client.responses.retrieve(id);
    await nothingLeft(test);
    expect(await settledBudget(test, project)).toMatchObject({ spent: { requests: 1, tokens: 120 } });
    await expect(client.responses.create(input)).rejects.toMatchObject({
      status: 402,
      code: "budget_exceeded",
    });
  });

  it("12, 13: pending without usage, then charged once, for any number of polls", async () => {
    const { project, client } = newProject();
    const { id } = await client.responses.create(input);
    const pending = await pendingCall(project);
    expect(pending.attributes.sumtree).toMatchObject({ usage: "none", outcome: "pending" });
    expect(await sums(project)).toEqual({ requests: 0, total: 0, unfinished: [pending.id] });
    expect((await client.responses.retrieve(id)).status).toBe("queued");
    fails = true;
    await expect(client.responses.retrieve(id)).rejects.toThrow();
    fails = false;
    await pendingCall(project);
    complete(id);
    await Promise.all([1, 2, 3].map(() => client.responses.retrieve(id)));
    for (let poll = 0; poll < 5; poll++) await client.responses.retrieve(id);
    const call = await endedCall(project);
    expect([call.id, call.output?.["status"]]).toEqual([pending.id, "completed"]);
    expect(call.inputs).toMatchObject({ input: "Hello" });
  });

  it("14: a stream that is left, resumed, and cancelled after its end", async () => {
    const { project, client } = newProject();
    let id = "";
    for await (const event of await client.responses.create({ ...input, stream: true })) {
      if (event.type === "response.created") id = event.response.id;
      break;
    }
    await pendingCall(project);
    expect((await sums(project)).total).toBe(0);
    complete(id);
    for await (const _ of await client.responses.retrieve(id, { stream: true, starting_after: 0 }));
    await client.responses.cancel(id);
    await endedCall(project);
  });

  it("a stream that is read completely", async () => {
    const { project, client } = newProject();
    for await (const event of await client.responses.create({ ...input, stream: true }))
      if (event.type === "response.created") complete(event.response.id);
    await endedCall(project);
  });

  it.each(["incomplete", ...(isLong ? ["completed", "failed", "cancelled"] : [])])(
    "is estimated if it is %s with output and without usage",
    async (status) => {
      const { project, client } = newProject();
      const { id } = await client.responses.create(input);
      const text = { type: "output_text", text: "Four bytes each.", annotations: [] };
      const search = { type: "web_search_call", action: { type: "search" } };
      end(id, { status, output: [search, { type: "message", content: [text] }] });
      for (let poll = 0; poll < 2; poll++) await client.responses.retrieve(id);
      // five bytes asked and sixteen written
      const outcome = expect.any(String) as string;
      const call = await endedCall(project, { usage: "estimated", outcome }, 2 + 4);
      const receipt = await test.post("/call/receipt", { project_id: project, call_id: call.id });
      const searches = (receipt.json().lines as Json[]).filter(({ unit }) => unit === "web_searches");
      expect(searches).toMatchObject([{ quantity: 1 }]);
    },
  );

  it("has no usage if cancelled", async () => {
    const { project, client } = newProject();
    const { id } = await client.responses.create(input);
    await client.responses.cancel(id);
    await nothingLeft(test);
    const [call] = await awaitCalls(test, project, 1);
    expect(call!.attributes.sumtree).toMatchObject({ usage: "none", outcome: "aborted" });
    expect(await sums(project)).toEqual({ requests: 0, total: 0, unfinished: [] });
  });

  // depends on the seconds that a replica waits for another to store the call
  it.runIf(isLong)("if another replica sees its end before the pending call is stored", async () => {
    const { project, client } = newProject();
    const second = await replica(project);
    const { id } = await client.responses.create(input);
    complete(id);
    await second.client.responses.retrieve(id);
    await client.responses.retrieve(id);
    await until(async () => /sumtree_gateway_completions_pending 0\n/.test(await metricsOf(second.app)));
    await endedCall(project);
    await second.app.close();
  });

  it("after a restart, and at another replica", async () => {
    const { project, client } = newProject();
    const { id } = await client.responses.create(input);
    const pending = await pendingCall(project);
    const second = await replica(project);
    complete(id);
    for (let poll = 0; poll < 3; poll++)
      expect(await second.client.responses.retrieve(id)).toMatchObject({ id, status: "completed" });
    await second.app.close();
    await client.responses.retrieve(id);
    expect((await endedCall(project)).id).toBe(pending.id);
  });
});

describe("a response retrieved by its id", () => {
  it("that was recorded when created is not charged again", async () => {
    const { project, client } = newProject();
    const { id } = await client.responses.create({ ...input, background: false });
    await client.responses.retrieve(id);
    await endedCall(project);
  });

  it("that was created elsewhere is recorded once, and only with usage", async () => {
    const { project, client } = newProject();
    const { id } = create({ model: "gpt-5", background: true });
    await client.responses.retrieve(id);
    end(id, { status: "completed", output: [{ type: "message", content: "Hello" }] });
    await client.responses.retrieve(id);
    complete(id);
    for (let poll = 0; poll < 3; poll++) await client.responses.retrieve(id);
    await awaitCalls(test, project, 1);
    await client.responses.retrieve(id);
    await endedCall(project);
    await expect(client.responses.retrieve("resp_none")).rejects.toThrow("404");
  });
});

it("requests without counted tokens are counted by the entry that passes them if they may use something", async () => {
  const headers = { authorization: `Bearer ${ROOT_KEY}`, "x-sumtree-project": newProject().project };
  const send = (path: string, method: string): Promise<Response> =>
    fetch(baseURL + path, { method, headers, body: method === "POST" ? "{}" : null });
  const passed = [await send("/videos", "POST"), await send("/videos/secret-id?key=secret", "POST")];
  await send("/responses/input_tokens", "POST");
  await send("/videos", "GET");
  expect(passed.map(({ headers: sent }) => sent.get("x-sumtree-call-id"))).toEqual([null, null]);
  const counted = (await metricsOf(test)).match(/^sumtree_gateway_unmetered_total.*$/gm);
  expect(counted).toEqual(['sumtree_gateway_unmetered_total{path="/videos"} 2']);
});
