import type { IncomingHttpHeaders } from "node:http";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, streamText } from "ai6";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProvided, type ProvidedApp } from "../helpers/provider.ts";
import {
  callsOf,
  keyOf,
  nothingLeft,
  onlyCall,
  usageOf,
  type RecordedCall,
} from "../helpers/recorded-calls.ts";
import { answerOf, COUNTS, type Json, type Served } from "../helpers/reference-upstream/models.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";

const TEXT = "Every call costs naïvely 🌲";
/** The endpoints of OpenAI and Anthropic, with known usage. */
let test: ProvidedApp;
let baseURL: string;
const SAME: Readonly<Record<string, string>> = {
  "/audio/translations": "/audio/transcriptions",
  "/images/edits": "/images/generations",
};
beforeAll(async () => {
  test = await startProvided(
    ({ url, body }, response) => {
      const path = url.slice("/v1".length).split("?", 1)[0]!;
      if (/^\/(?:files|fine_tuning)/.test(path)) return response.end(`{"id":"of ${path}"}`);
      const text = body.toString();
      const asked = text.startsWith("{") ? (JSON.parse(text) as Json) : { stream: text.includes('"stream"') };
      const { type, pieces } = answerOf(SAME[path] ?? path, asked)!;
      response.writeHead(200, { "content-type": type, "request-id": "req_played" });
      return response.end(pieces.join(""));
    },
    (origin) => ({
      CHAT_UPSTREAM_URL: `${origin}/v1`,
      CHAT_UPSTREAM_API_KEY: "sk-operator",
      ANTHROPIC_UPSTREAM_URL: `${origin}/v1`,
      ANTHROPIC_UPSTREAM_API_KEY: "sk-ant-operator",
      GATEWAY_PASSTHROUGH_PATHS: "/files,/fine_tuning",
    }),
  );
  baseURL = `${test.origin}/v1`;
});
afterAll(() => test.close());

let projects = 0;
const newProject = (): string => `acme/apis-${projects++}`;
const openai = (project?: string, apiKey = ROOT_KEY): OpenAI =>
  new OpenAI({ apiKey, baseURL, project: project ?? null, maxRetries: 0 });
interface AnthropicOptions {
  readonly apiKey?: string | null;
  readonly authToken?: string;
  readonly defaultHeaders?: Readonly<Record<string, string>>;
}
// its base URL is without /v1
const anthropic = (project: string, options: AnthropicOptions = {}): Anthropic =>
  new Anthropic({
    apiKey: ROOT_KEY,
    baseURL: baseURL.slice(0, -3),
    maxRetries: 0,
    ...options,
    defaultHeaders: { "x-sumtree-project": project, ...options.defaultHeaders },
  });
const vercel = (project: string) => createOpenAI({ apiKey: ROOT_KEY, baseURL, project }).responses("gpt-5");

const { input, cached, written, output } = COUNTS;
const ofCompletion = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
const ofResponse = { ...ofCompletion, cache_read_input_tokens: cached };
const ofMessage = { ...ofResponse, cache_creation_input_tokens: written };
const ofEmbedding = { prompt_tokens: input, completion_tokens: 0, total_tokens: input };

/** The recorded call of each API, with a unit of its receipt. */
const APIS = {
  responses: ["openai.responses.create", "gpt-5", ofResponse],
  completions: ["openai.completions.create", "gpt-3.5-turbo-instruct", ofCompletion],
  embeddings: ["openai.embeddings.create", "text-embedding-3-small", ofEmbedding],
  images: ["openai.images.generate", "gpt-image-1", ofCompletion, "output_image_tokens"],
  edits: ["openai.images.edit", "gpt-image-1", ofCompletion, "output_image_tokens"],
  translations: ["openai.audio.translations.create", "whisper-1", ofCompletion, "input_audio_tokens"],
  transcriptions: [
    "openai.audio.transcriptions.create",
    "gpt-4o-transcribe",
    ofCompletion,
    "input_audio_tokens",
  ],
  speech: ["openai.audio.speech.create", "gpt-4o-mini-tts", ofCompletion],
  rerank: ["rerank", "rerank-v3.5", { prompt_tokens: 0 }, "rerank_searches"],
  messages: ["anthropic.messages.create", "claude-played-1", ofMessage],
} as const satisfies Record<string, readonly [op: string, model: string, served: Served, unit?: string]>;
type Api = keyof typeof APIS;

const gpt5 = { model: "gpt-5", input: "Hello" };
const said = {
  model: "claude-played-1",
  max_tokens: 100,
  messages: [{ role: "user" as const, content: "Hello" }],
};
const prompt = { model: "gpt-3.5-turbo-instruct", prompt: "Hello" };
const texts = { model: "text-embedding-3-small", input: ["a", "b"], encoding_format: "float" as const };
const image = { model: "gpt-image-1", prompt: "A forest" };
const speech = { model: "gpt-4o-mini-tts", input: "Hello", voice: "ash", stream_format: "sse" } as const;
const documents = { model: "rerank-v3.5", query: "q", documents: ["a"] };
const sound = () => toFile(Buffer.from("sound".repeat(20_000)), "a.wav");
const recording = async () => ({ model: "gpt-4o-transcribe", file: await sound() });

/** Joins what a client makes of the events of a stream. */
async function joined<T>(
  events: PromiseLike<AsyncIterable<T>>,
  textOf: (event: T) => unknown,
): Promise<string> {
  let text = "";
  for await (const event of await events) text += textOf(event) as string;
  return text;
}

/** The parts of a recorded call that do not depend on streaming. */
const OUTPUTS: Readonly<Record<string, object>> = {
  responses: { id: "resp_1", status: "completed" },
  messages: { id: "msg_1", stop_reason: "end_turn", content: [{ type: "text", text: TEXT }] },
};

type Ask = (project: string) => Promise<unknown>;
const stream = true;
/** APIs, how a client asks them, and what it makes of the answer. */
const CALLS: readonly (readonly [api: Api, ask: Ask, answer?: unknown])[] = [
  ["responses", async (on) => (await openai(on).responses.create(gpt5)).output_text],
  ["responses", async (on) => (await openai(on).responses.stream(gpt5).finalResponse()).output_text],
  ["responses", async (on) => (await generateText({ model: vercel(on), prompt: "Hello" })).text],
  ["responses", async (on) => streamText({ model: vercel(on), prompt: "Hello" }).text],
  ["completions", async (on) => (await openai(on).completions.create(prompt)).choices[0]!.text],
  [
    "completions",
    (on) =>
      // usage was asked for by the gateway
      joined(openai(on).completions.create({ ...prompt, stream }), ({ choices, usage }) =>
        usage === undefined ? choices[0]?.text : "usage",
      ),
  ],
  ["embeddings", async (on) => (await openai(on).embeddings.create(texts)).data[1]!.embedding[2], 1],
  ["images", async (on) => (await openai(on).images.generate(image)).data![0]!.b64_json, "aW1hZ2U="],
  [
    "images",
    (on) => joined(openai(on).images.generate({ ...image, stream }), ({ b64_json }) => b64_json),
    "aW1haW1haW1hZ2U=",
  ],
  ["transcriptions", async (on) => (await openai(on).audio.transcriptions.create(await recording())).text],
  [
    "translations",
    async (on) =>
      (await openai(on).audio.translations.create({ model: "whisper-1", file: await sound() })).text,
  ],
  [
    "edits",
    async (on) => (await openai(on).images.edit({ ...image, image: await sound() })).data![0]!.b64_json,
    "aW1hZ2U=",
  ],
  [
    "transcriptions",
    async (on) =>
      joined(openai(on).audio.transcriptions.create({ ...(await recording()), stream }), (event) =>
        event.type === "transcript.text.delta" ? event.delta : "",
      ),
  ],
  [
    "speech",
    async (on) => (await openai(on).audio.speech.create(speech)).headers.get("content-type"),
    "text/event-stream",
  ],
  [
    "rerank",
    async (on) => openai(on).post("/rerank", { body: documents }),
    expect.objectContaining({ id: "rr_1" }),
  ],
  ["messages", async (on) => (await anthropic(on).messages.create(said))._request_id, "req_played"],
  ["messages", async (on) => anthropic(on).messages.stream(said).finalText()],
];

const cases = CALLS.map(([api, ask, answer = TEXT], at) => ({ api, ask, answer, at }));
const came: { readonly answer: unknown; readonly sent: IncomingHttpHeaders }[] = [];
const together = newProject();
let calls: readonly RecordedCall[];
let usage: Awaited<ReturnType<typeof usageOf>>["call_usage"];
// all at first: what is recorded together costs little
beforeAll(async () => {
  for (const { ask } of cases)
    came.push({ answer: await ask(together), sent: test.provider.seen.at(-1)!.headers });
  await nothingLeft(test);
  calls = await callsOf(test, together);
  usage = (await usageOf(test, together)).call_usage;
  expect(calls).toHaveLength(cases.length);
});

it.each(cases)("$api are answered to a client, as $answer, and recorded", async ({ api, answer, at }) => {
  const [op_name, model, served, unit] = APIS[api] as readonly [string, string, Served, string?];
  const { authorization, "x-api-key": key, "anthropic-version": version } = came[at]!.sent;
  expect(came[at]!.answer).toEqual(answer);
  if (api === "messages") expect([authorization, key]).toEqual([undefined, "sk-ant-operator"]);
  else expect([authorization, key]).toEqual(["Bearer sk-operator", undefined]);
  if (api === "messages") expect(version).toMatch(/^\d{4}-\d\d-\d\d$/);

  const call = calls[at]!;
  const used = usage[call.id]!;
  expect([call.op_name, Object.keys(used)]).toEqual([op_name, [model]]);
  expect(call.attributes.sumtree).toMatchObject({ usage: "exact", outcome: "finished" });
  expect(used[model]).toMatchObject({ ...served, requests: 1 });
  // as if it had come in one piece, but neither vectors nor media
  expect(call.output).toMatchObject(OUTPUTS[api] ?? {});
  expect(JSON.stringify(call.output)).not.toMatch(/0\.25|aW1h|c291bmQ/);
  if (unit === undefined) return;
  const receipt = await test.post("/call/receipt", { project_id: together, call_id: call.id });
  expect(receipt.text).toContain(unit);
});

it("files and fine-tuning pass with the operator's key, where they are listed", async () => {
  const file = await openai().files.create({ file: await sound(), purpose: "fine-tune" });
  const job = await openai().fineTuning.jobs.create({ model: "gpt-4o", training_file: "file-1" });
  expect([file.id, job.id]).toEqual(["of /files", "of /fine_tuning/jobs"]);
  expect((await openai().fineTuning.jobs.retrieve("ftjob-1")).id).toBe("of /fine_tuning/jobs/ftjob-1");
  const [sent, ...others] = test.provider.seen.slice(-3);
  expect(sent!.body.toString()).toContain("sound");
  for (const { headers } of [sent!, ...others]) expect(headers.authorization).toBe("Bearer sk-operator");
});

describe("@anthropic-ai/sdk", () => {
  it("uses its own login, which is relayed unchanged", async () => {
    const project = newProject();
    const defaultHeaders = { "x-sumtree-key": ROOT_KEY };
    const own = { apiKey: null, authToken: "sk-ant-oat01-own", defaultHeaders };
    await anthropic(project, own).messages.create(said);
    const { attributes } = await onlyCall(test, project);
    expect(attributes.sumtree).toMatchObject({ billing: "subscription" });
    const { headers } = test.provider.seen.at(-1)!;
    expect([headers.authorization, headers["x-api-key"]]).toEqual(["Bearer sk-ant-oat01-own", undefined]);
    expect(JSON.stringify(headers)).not.toContain(ROOT_KEY);
  });

  it("parses our own errors", async () => {
    const asked = anthropic(newProject(), { apiKey: "wrong" }).messages.create(said);
    const error: unknown = await asked.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(error).toMatchObject({ error: { type: "error", error: { type: "authentication_error" } } });
  });
});

it("a key of one project records without a header", async () => {
  const project = newProject();
  await openai(undefined, await keyOf(test, [project], ["train"])).responses.create(gpt5);
  expect((await onlyCall(test, project)).op_name).toBe("openai.responses.create");
});
