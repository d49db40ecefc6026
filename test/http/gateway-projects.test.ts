import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { responseKeyName } from "../../src/gateway/recording/response-index.ts";
import { sendLine, startProvided, type ProvidedApp, type SentBody } from "../helpers/provider.ts";
import { keyOf } from "../helpers/recorded-calls.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";

const MODEL = "00000000-0000-4000-8000-000000000000";

let test: ProvidedApp;
let keys: Record<"one" | "entity" | "models" | "root", string>;

beforeAll(async () => {
  const training = (origin: string) => ({ TRAINING_UPSTREAM_URL: `${origin}/v1` });
  test = await startProvided((_asked, response) => response.end("{}"), training);
  await test.engine.insert(
    "training_owners",
    ["j1", MODEL.replaceAll("-", "")].map((id) => ({ id, project_id: "acme/one" })),
    { name: "test" },
  );
  const made = { project_id: "acme/one", id: responseKeyName("training", "resp_1"), trace_id: "t", hour: 0 };
  await test.engine.insert("call_keys", [made], { name: "test" });
  keys = {
    one: await keyOf(test, ["acme/one"]),
    entity: await keyOf(test, ["acme/*"]),
    models: await keyOf(test, ["acme/one"], ["gateway"]),
    root: ROOT_KEY,
  };
});
afterAll(() => test.close());
beforeEach(() => void test.provider.seen.splice(0));

interface Sent extends SentBody {
  readonly key?: keyof typeof keys;
}

/** Returns the status, and how many requests have been sent upstream. */
async function ask(line: string, { key = "one", headers = [], body }: Sent): Promise<[number, number]> {
  const sent = { body, headers: ["content-type: application/json", ...headers] };
  const { status } = await sendLine(test.port, line, keys[key], sent);
  return [status, test.provider.seen.length];
}

const CHAT = "POST /v1/chat/completions";
const chat = { model: "m", messages: [] };

/** Headers or a query of another project, or of two. */
const OTHERS: readonly (readonly [status: number, key: "one" | "entity", said: string])[] = [
  [403, "one", "openai-project: other/two"],
  [403, "one", "x-sumtree-project: acme/one|openai-project: other/two"],
  [403, "one", "openai-project: acme/two"],
  [403, "one", "openai-project: /other/two"],
  [422, "one", "?project=two"],
  [422, "one", "?project_id=other%2Ftwo"],
  [422, "one", "?project=one&entity=other"],
  [422, "one", "?project=one&project=two"],
  // even if the key covers both
  [400, "entity", "openai-project: acme/one|x-sumtree-project: acme/two"],
  [400, "entity", "openai-project: acme/one|openai-project: acme/one"],
];

it.each<[string, object | string]>([
  [CHAT, chat],
  ["POST /v1/messages", chat],
  ["POST /v1/embeddings", { model: "m", input: "x" }],
  ["GET /v1/responses/resp_1", ""],
  ["DELETE /v1/responses/resp_1", ""],
  ["POST /v1/responses/input_tokens", {}],
  ["GET /v1/preview/base-models", ""],
  ["GET /v1/preview/training-jobs/j1", ""],
  ["POST /v1/preview/training-jobs", { model_id: MODEL }],
  ["GET /v1/preview/anything", ""],
  ["GET /v1/models", ""],
  ["GET /v1/system-check", ""],
])("%s passes with a project of the key, and sends nothing upstream with another", async (line, body) => {
  for (const [status, key, said] of OTHERS) {
    const isQuery = said.startsWith("?");
    const sent = { key, headers: isQuery ? [] : said.split("|"), body };
    expect([said, ...(await ask(isQuery ? line + said : line, sent))]).toEqual([said, status, 0]);
  }
  const headers = ["openai-project: acme/one", "x-sumtree-project: acme/one"];
  expect(await ask(`${line}?project=one&entity=acme`, { headers, body })).toEqual([200, 1]);
  expect(await ask(line, { headers: ["openai-project: proj_123"], body })).toEqual([200, 2]);
  const root = { key: "root", headers: ["openai-project: a/b/c"] } as const;
  expect(await ask(`${line}?project=x`, { ...root, body })).toEqual([200, 3]);
});

describe("a body", () => {
  const model = { name: "n", base_model: "b" };
  const MODELS = "POST /v1/preview/models";
  const JOBS = "POST /v1/preview/sft-training-jobs";
  const data = (training_data_url: string): object => ({ model_id: MODEL, training_data_url });
  const large = "x".repeat(5 * 1024 * 1024);

  it.each<[string, string, object | string]>([
    ["another project", MODELS, { ...model, project: "two" }],
    ["another entity", MODELS, { ...model, project: "one", entity: "other" }],
    ["a project with its entity", MODELS, { ...model, project: "other/one" }],
    ["a project by its id", MODELS, { ...model, project: "one", project_id: "other/two" }],
    ["the last of two", MODELS, '{"project":"one","name":"n","base_model":"b","project":"two"}'],
    ["an escaped one", MODELS, String.raw`{"pro\u006aect":"two","name":"n","base_model":"b"}`],
    ["data", JOBS, data("wandb-artifact:///other/two/data:v0")],
    ["data with two slashes", JOBS, data("wandb-artifact://other/two/data:v0")],
    [
      "an artifact",
      JOBS,
      { ...data("x"), experimental_config: { a: ["wandb-artifact:///acme/two/a:step1"] } },
    ],
    ["an adapter", JOBS, { ...data("x"), experimental_config: { kl_ref_adapter_path: "acme/two/a:step1" } }],
    [
      "one of two entities",
      "POST /v1/preview/training-jobs",
      { ...data("x"), entity: "acme", entity_name: "o" },
    ],
    ["the project of a job", "POST /v1/preview/training-jobs", { ...data("x"), project: "acme/two" }],
    ["an escaped model", CHAT, String.raw`{"model":"wandb-artifac\u0074:///other/two/agent"}`],
    ["a prefixed model", CHAT, { ...chat, model: "openai/wandb-artifact:///other/two/agent" }],
    ["a model of no project", CHAT, { ...chat, model: "wandb-artifact:///other/agent" }],
    ["the model of a message", "POST /v1/messages", { ...chat, model: "wandb-artifact:///acme/two/agent" }],
    ["the model behind 5 MiB", CHAT, { padding: large, model: "wandb-artifact:///other/two/agent" }],
    ["the last model", CHAT, `{"model":"m","padding":"${large}","model":"wandb-artifact:///other/two/a"}`],
  ])("returns 422 if it names %s of another project, except to keys of all", async (_what, line, body) => {
    expect(await ask(line, { body })).toEqual([422, 0]);
    expect(await ask(line, { body, key: "root" })).toEqual([200, 1]);
  });

  it("passes if it names a model of the key", async () => {
    for (const [line, body] of [
      [MODELS, { ...model, project: "one", entity: null }],
      [MODELS, { ...model, project: "one", entity: "acme" }],
      [MODELS, { ...model, project: "acme/one" }],
      [JOBS, data("wandb-artifact:///acme/one/data:v0")],
      [CHAT, { ...chat, model: "wandb-artifact:///acme/one/agent:step25" }],
      [CHAT, { ...chat, model: "OpenPipe/Qwen3-14B-Instruct" }],
    ] as const)
      expect([body, (await ask(line, { body }))[0]]).toEqual([body, 200]);
  });

  it("is decompressed for this check, or rejected if that fails", async () => {
    const foreign = JSON.stringify({ ...model, project: "two" });
    for (const [line, encoding, body, status] of [
      [MODELS, "gzip", gzipSync(foreign), 422],
      [MODELS, "br", brotliCompressSync(foreign), 422],
      [MODELS, "zstd", zstdCompressSync(foreign), 422],
      [MODELS, "gzip, br", brotliCompressSync(gzipSync(foreign)), 415],
      [CHAT, "gzip", gzipSync('{"model":"wandb-artifact:///other/two/agent"}'), 422],
    ] as const) {
      const got = await ask(line, { headers: [`content-encoding: ${encoding}`], body });
      expect([encoding, ...got]).toEqual([encoding, status, 0]);
    }
  });
});

it("the model in a path is checked too", async () => {
  const line = `GET /v1/models/${encodeURIComponent("wandb-artifact:///other/two/agent")}`;
  expect(await ask(line, {})).toEqual([422, 0]);
});

it("a key of scope gateway can call models, and cannot train", async () => {
  for (const line of ["POST /v1/preview/models", "GET /v1/preview/other", "GET /v1/training/jobs"])
    expect([line, ...(await ask(line, { key: "models", body: {} }))]).toEqual([line, 403, 0]);
  expect(await ask(CHAT, { key: "models", body: chat })).toEqual([200, 1]);
  expect(await ask("GET /v1/models/m", { key: "models" })).toEqual([200, 2]);
});
