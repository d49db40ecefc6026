import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, streamText } from "ai6";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { playModels, type PlayedModels } from "../helpers/played-models.ts";
import { COUNTS, type Served } from "../helpers/reference-upstream/models.ts";
import { authorization, ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const TEXT = "Every call costs naïvely 🌲";
let models: PlayedModels;
let test: TestApp;
let baseURL: string;
beforeAll(async () => {
  models = await playModels();
  test = await startApp({
    settings: {
      CHAT_UPSTREAM_URL: models.url,
      CHAT_UPSTREAM_API_KEY: "sk-operator",
      ANTHROPIC_UPSTREAM_URL: models.url,
      ANTHROPIC_UPSTREAM_API_KEY: "sk-ant-operator",
    },
  });
  baseURL = `${await test.app.listen({ host: "127.0.0.1", port: 0 })}/v1`;
});
afterAll(async () => {
  await test.close();
  await models.close();
});

let projects = 0;
const newProject = (): string => `acme/apis-${projects++}`;

interface StoredCall {
  readonly id: string;
  readonly op_name: string;
  readonly attributes: { readonly sumtree: Readonly<Record<string, unknown>> };
  readonly output: Readonly<Record<string, unknown>>;
}

/** The only call of a project, with what `/trace/usage` says of it. */
async function recorded(project_id: string): Promise<StoredCall & { readonly used: object }> {
  const ask = async (): Promise<Record<string, object>> =>
    (await test.post("/trace/usage", { project_id })).json().call_usage as Record<string, object>;
  await until(async () => Object.keys(await ask()).length > 0);
  const lines = (await test.post("/calls/stream_query", { project_id })).text.trim().split("\n");
  expect(lines).toHaveLength(1);
  const call = JSON.parse(lines[0]!) as StoredCall;
  return { ...call, used: (await ask())[call.id]! };
}

async function expectServed(
  project: string,
  { opName, model, served }: { opName: string; model: string; served: Served },
): Promise<void> {
  const call = await recorded(project);
  expect(call.op_name).toBe(opName);
  expect(call.attributes.sumtree).toMatchObject({ usage: "exact", outcome: "finished" });
  expect(call.used).toEqual({ [model]: expect.objectContaining({ ...served, requests: 1 }) });
}

const { input, cached, written, output } = COUNTS;
const ofResponse = {
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  cache_read_input_tokens: cached,
};
const ofMessage = { ...ofResponse, cache_creation_input_tokens: written };
const ofCompletion = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };

describe("openai", () => {
  const client = (project: string): OpenAI =>
    new OpenAI({ apiKey: ROOT_KEY, baseURL, project, maxRetries: 0 });

  it("creates a response", async () => {
    const project = newProject();
    const answer = await client(project).responses.create({ model: "gpt-5", input: "Hello" });
    expect(answer.output_text).toBe(TEXT);
    await expectServed(project, { opName: "openai.responses.create", model: "gpt-5", served: ofResponse });
    expect(models.seen.at(-1)?.headers.authorization).toBe("Bearer sk-operator");
  });

  it("streams a response", async () => {
    const project = newProject();
    const events = client(project).responses.stream({ model: "gpt-5", input: "Hello" });
    expect((await events.finalResponse()).output_text).toBe(TEXT);
    await expectServed(project, { opName: "openai.responses.create", model: "gpt-5", served: ofResponse });
    expect((await recorded(project)).output).toMatchObject({ id: "resp_1", status: "completed" });
  });

  it("creates embeddings", async () => {
    const project = newProject();
    const model = "text-embedding-3-small";
    const made = await client(project).embeddings.create({
      model,
      input: ["a", "b"],
      encoding_format: "float",
    });
    expect(made.data.map(({ embedding }) => embedding[2])).toEqual([0, 1]);
    const served = { prompt_tokens: input, total_tokens: input };
    await expectServed(project, { opName: "openai.embeddings.create", model, served });
    expect(JSON.stringify((await recorded(project)).output)).not.toContain("0.25");
  });

  it.each([false, true])("completes a prompt, streamed: %s", async (streamed) => {
    const project = newProject();
    const model = "gpt-3.5-turbo-instruct";
    let text = "";
    if (streamed) {
      const chunks = await client(project).completions.create({ model, prompt: "Hello", stream: true });
      for await (const { choices, usage } of chunks) {
        text += choices[0]?.text ?? "";
        // it was asked for by the gateway
        expect(usage).toBeUndefined();
      }
    } else {
      text = (await client(project).completions.create({ model, prompt: "Hello" })).choices[0]!.text;
    }
    expect(text).toBe(TEXT);
    await expectServed(project, { opName: "openai.completions.create", model, served: ofCompletion });
  });
});

it.each([false, true])("ai with @ai-sdk/openai creates a response, streamed: %s", async (streamed) => {
  const project = newProject();
  const model = createOpenAI({ apiKey: ROOT_KEY, baseURL, project }).responses("gpt-5");
  const answered = streamed
    ? streamText({ model, prompt: "Hello" })
    : await generateText({ model, prompt: "Hello" });
  const { inputTokens, outputTokens } = await answered.usage;
  expect([await answered.text, inputTokens, outputTokens]).toEqual([TEXT, input, output]);
  await expectServed(project, { opName: "openai.responses.create", model: "gpt-5", served: ofResponse });
});

describe("@anthropic-ai/sdk", () => {
  // its base URL is without /v1
  const client = (options: ConstructorParameters<typeof Anthropic>[0] = {}): Anthropic =>
    new Anthropic({ apiKey: ROOT_KEY, baseURL: baseURL.slice(0, -3), maxRetries: 0, ...options });
  const asked = {
    model: "claude-played-1",
    max_tokens: 100,
    messages: [{ role: "user" as const, content: "Hello" }],
  };
  const opName = "anthropic.messages.create";

  it("creates a message, and its key is not relayed", async () => {
    const project = newProject();
    const answer = await client({ defaultHeaders: { "x-sumtree-project": project } }).messages.create(asked);
    expect(answer.content).toEqual([{ type: "text", text: TEXT }]);
    expect(answer._request_id).toBe("req_played");
    await expectServed(project, { opName, model: asked.model, served: ofMessage });
    const { headers } = models.seen.at(-1)!;
    expect([headers["x-api-key"], headers.authorization]).toEqual(["sk-ant-operator", undefined]);
    expect(headers["anthropic-version"]).toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  it("streams a message", async () => {
    const project = newProject();
    const stream = client({ defaultHeaders: { "x-sumtree-project": project } }).messages.stream(asked);
    expect(await stream.finalText()).toBe(TEXT);
    await expectServed(project, { opName, model: asked.model, served: ofMessage });
    expect((await recorded(project)).output).toMatchObject({
      stop_reason: "end_turn",
      content: [{ type: "text", text: TEXT }],
    });
  });

  it("uses its own login, which is relayed unchanged", async () => {
    const project = newProject();
    const defaultHeaders = { "x-sumtree-key": ROOT_KEY, "x-sumtree-project": project };
    const own = client({ apiKey: null, authToken: "sk-ant-oat01-own", defaultHeaders });
    await own.messages.create(asked);
    expect((await recorded(project)).attributes.sumtree).toMatchObject({ billing: "subscription" });
    const { headers } = models.seen.at(-1)!;
    expect([headers.authorization, headers["x-api-key"]]).toEqual(["Bearer sk-ant-oat01-own", undefined]);
    expect(JSON.stringify(headers)).not.toContain(ROOT_KEY);
  });

  it("parses our own errors", async () => {
    await expect(client({ apiKey: "wrong" }).messages.create(asked)).rejects.toBeInstanceOf(
      Anthropic.AuthenticationError,
    );
    await expect(client({ apiKey: "wrong" }).messages.create(asked)).rejects.toMatchObject({
      error: { type: "error", error: { type: "authentication_error" } },
    });
  });
});

it("a key of one project records without a header", async () => {
  const project = newProject();
  const made = await test.app.inject({
    method: "POST",
    url: "/api-keys",
    headers: { authorization: authorization() },
    payload: { name: "agent", scopes: ["train"], projects: [project] },
  });
  const apiKey = made.json<{ key: string }>().key;
  await new OpenAI({ apiKey, baseURL, maxRetries: 0 }).responses.create({ model: "gpt-5", input: "Hello" });
  expect((await recorded(project)).op_name).toBe("openai.responses.create");
});
