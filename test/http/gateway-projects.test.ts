import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { responseKeyName } from "../../src/gateway/recording/response-index.ts";
import { head, sendRaw, type RawResponse } from "../helpers/raw-http.ts";
import { authorization, ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";

const MODEL = "00000000-0000-4000-8000-000000000000";

let test: TestApp;
let upstream: Server;
let port: number;
let keys: Record<"one" | "entity" | "models" | "root", string>;
/** Requests that the upstream received. */
let seen: string[] = [];

beforeAll(async () => {
  upstream = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    request.resume().once("end", () => response.setHeader("content-type", "application/json").end("{}"));
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const { port: theirs } = upstream.address() as AddressInfo;
  test = await startApp({ settings: { TRAINING_UPSTREAM_URL: `http://127.0.0.1:${theirs}/v1` } });
  await test.engine.insert(
    "training_owners",
    ["j1", MODEL.replaceAll("-", "")].map((id) => ({ id, project_id: "acme/one" })),
    { name: "test" },
  );
  const made = { project_id: "acme/one", id: responseKeyName("training", "resp_1"), trace_id: "t", hour: 0 };
  await test.engine.insert("call_keys", [made], { name: "test" });
  port = Number(new URL(await test.app.listen({ host: "127.0.0.1", port: 0 })).port);
  keys = {
    one: await keyFor("acme/one"),
    entity: await keyFor("acme/*"),
    models: await keyFor("acme/one", "gateway"),
    root: ROOT_KEY,
  };
});
afterAll(async () => {
  await test.close();
  upstream.closeAllConnections();
  upstream.close();
});
beforeEach(() => {
  seen = [];
});

async function keyFor(project: string, scope = "train"): Promise<string> {
  const made = await test.app.inject({
    method: "POST",
    url: "/api-keys",
    headers: { authorization: authorization() },
    payload: { name: project, scopes: [scope], projects: [project] },
  });
  return made.json<{ key: string }>().key;
}

interface Sent {
  readonly key?: keyof typeof keys;
  readonly headers?: readonly string[];
  readonly body?: object | string | Uint8Array;
}

function ask(line: string, { key = "one", headers = [], body = "" }: Sent): Promise<RawResponse> {
  const bytes =
    body instanceof Uint8Array ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const lines = [
    `${line} HTTP/1.1`,
    "host: gateway",
    `authorization: Bearer ${keys[key]}`,
    "content-type: application/json",
    `content-length: ${bytes.length}`,
    "connection: close",
    ...headers,
  ];
  return sendRaw(port, head(...lines), bytes).answer;
}

const CHAT = "POST /v1/chat/completions";
const chat = { model: "m", messages: [] };
const LINES: readonly (readonly [string, object | string])[] = [
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
];

/** Headers or a query of another project, or of two. */
const OTHERS: readonly (readonly [status: number, key: "one" | "entity", said: string])[] = [
  [403, "one", "openai-project: other/two"],
  [403, "one", "x-sumtree-project: other/two"],
  [403, "one", "x-sumtree-project: acme/one|openai-project: other/two"],
  [403, "one", "openai-project: acme/two"],
  [403, "one", "openai-project: /other/two"],
  [422, "one", "?project=two"],
  [422, "one", "?project_id=other%2Ftwo"],
  [422, "one", "?entity=other"],
  [422, "one", "?project=one&entity=other"],
  [422, "one", "?project=one&project=two"],
  // even if the key covers both
  [400, "entity", "openai-project: acme/one|x-sumtree-project: acme/two"],
  [400, "entity", "openai-project: acme/one|openai-project: acme/two"],
  [400, "entity", "openai-project: acme/one|openai-project: acme/one"],
];

describe.each(LINES)("%s", (line, body) => {
  it.each(OTHERS)(
    "returns %i to the key %s that says %s, and sends nothing upstream",
    async (status, key, said) => {
      const isQuery = said.startsWith("?");
      const sent = { key, headers: isQuery ? [] : said.split("|"), body };
      expect([(await ask(isQuery ? line + said : line, sent)).status, seen]).toEqual([status, []]);
    },
  );

  it("passes with a project of the key", async () => {
    const headers = ["openai-project: acme/one", "x-sumtree-project: acme/one"];
    for (const [query, sent] of [
      ["?project=one&entity=acme", { headers }],
      ["", { headers: ["openai-project: proj_123"] }],
      ["?project=x", { key: "root", headers: ["openai-project: a/b/c"] }],
    ] as const)
      expect((await ask(line + query, { ...sent, body })).status).toBe(200);
    expect(seen).toHaveLength(3);
  });
});

describe("a body", () => {
  const model = { name: "n", base_model: "b" };
  const job = { model_id: MODEL };
  const MODELS = "POST /v1/preview/models";
  const JOBS = "POST /v1/preview/sft-training-jobs";
  const large = "x".repeat(5 * 1024 * 1024);
  const rejected: readonly (readonly [string, string, object | string])[] = [
    ["another project", MODELS, { ...model, project: "two" }],
    ["another entity", MODELS, { ...model, project: "one", entity: "other" }],
    ["a project with its entity", MODELS, { ...model, project: "other/one" }],
    ["a project by its id", MODELS, { ...model, project: "one", project_id: "other/two" }],
    ["the last of two", MODELS, '{"project":"one","name":"n","base_model":"b","project":"two"}'],
    ["an escaped one", MODELS, String.raw`{"pro\u006aect":"two","name":"n","base_model":"b"}`],
    ["data", JOBS, { ...job, training_data_url: "wandb-artifact:///other/two/data:v0" }],
    ["data with two slashes", JOBS, { ...job, training_data_url: "wandb-artifact://other/two/data:v0" }],
    ["a model", CHAT, { ...chat, model: "wandb-artifact:///other/two/agent:step25" }],
    ["an escaped model", CHAT, String.raw`{"model":"wandb-artifac\u0074:///other/two/agent"}`],
    ["a prefixed model", CHAT, { ...chat, model: "openai/wandb-artifact:///other/two/agent" }],
    ["a model of no project", CHAT, { ...chat, model: "wandb-artifact:///other/agent" }],
    ["the model of a message", "POST /v1/messages", { ...chat, model: "wandb-artifact:///acme/two/agent" }],
    ["the model behind 5 MiB", CHAT, { padding: large, model: "wandb-artifact:///other/two/agent" }],
    [
      "the last model after 5 MiB",
      CHAT,
      `{"model":"m","padding":"${large}","model":"wandb-artifact:///other/two/a"}`,
    ],
  ];
  it.each(rejected)(
    "returns 422 if it names %s of another project, and sends nothing upstream",
    async (_what, line, body) => {
      expect([(await ask(line, { body })).status, seen]).toEqual([422, []]);
      // a key for all projects may
      expect([(await ask(line, { body, key: "root" })).status, seen.length]).toEqual([200, 1]);
    },
  );

  it.each([
    [MODELS, { ...model, project: "one", entity: null }],
    [MODELS, { ...model, project: "one", entity: "acme" }],
    [MODELS, { ...model, project: "acme/one" }],
    [JOBS, { ...job, training_data_url: "wandb-artifact:///acme/one/data:v0" }],
    [CHAT, { ...chat, model: "wandb-artifact:///acme/one/agent:step25" }],
    [CHAT, { ...chat, model: "OpenPipe/Qwen3-14B-Instruct" }],
  ])("passes if it names a model of the key: %s", async (line, body) => {
    expect([(await ask(line, { body })).status, seen.length]).toEqual([200, 1]);
  });

  it("is decompressed for this check, or rejected if that fails", async () => {
    const foreign = JSON.stringify({ ...model, project: "two" });
    for (const [encoding, body, status] of [
      ["gzip", gzipSync(foreign), 422],
      ["br", brotliCompressSync(foreign), 422],
      ["zstd", zstdCompressSync(foreign), 422],
      ["gzip, br", brotliCompressSync(gzipSync(foreign)), 415],
    ] as const) {
      const headers = [`content-encoding: ${encoding}`];
      expect([encoding, (await ask(MODELS, { headers, body })).status, seen]).toEqual([encoding, status, []]);
    }
    const headers = ["content-encoding: gzip"];
    const body = gzipSync(JSON.stringify({ ...chat, model: "wandb-artifact:///other/two/agent" }));
    expect([(await ask(CHAT, { headers, body })).status, seen]).toEqual([422, []]);
  });
});

it("the model in a path is checked too", async () => {
  const line = `GET /v1/models/${encodeURIComponent("wandb-artifact:///other/two/agent")}`;
  expect([(await ask(line, {})).status, seen]).toEqual([422, []]);
});

it("a key of scope gateway can call models, and cannot train", async () => {
  expect((await ask(CHAT, { key: "models", body: chat })).status).toBe(200);
  expect((await ask("GET /v1/models/m", { key: "models" })).status).toBe(200);
  seen = [];
  for (const line of ["POST /v1/preview/models", "GET /v1/preview/other", "GET /v1/training/jobs"]) {
    expect([line, (await ask(line, { key: "models", body: {} })).status, seen]).toEqual([line, 403, []]);
  }
});
