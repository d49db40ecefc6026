import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { ApiError, GoogleGenAI } from "@google/genai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const OPERATOR = "google-key-of-the-operator";
const model = "gemini-2.5-flash";
const usageMetadata = {
  promptTokenCount: 14,
  candidatesTokenCount: 3,
  totalTokenCount: 117,
  thoughtsTokenCount: 100,
};
const part = (text: string, finishReason?: string) => ({
  candidates: [{ content: { parts: [{ text }], role: "model" }, finishReason, index: 0 }],
  usageMetadata,
  modelVersion: model,
  responseId: "q7A2aYvBLKbW1PIP5rXy",
});
const ANSWERS: Readonly<Record<string, readonly object[]>> = {
  generateContent: [part("Every call costs 🌲", "STOP")],
  streamGenerateContent: [part("Every call "), part("costs 🌲", "STOP")],
  batchEmbedContents: [{ embeddings: [{ values: [0.25, 0.5] }] }],
  countTokens: [{ totalTokens: 31 }],
};

const seen: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = [];
const provider = createServer((request, response) => {
  const url = request.url!;
  seen.push({ url, headers: request.headers });
  const answers = ANSWERS[/:(\w+)/.exec(url)![1]!]!;
  const isStream = url.includes("alt=sse");
  if (url.includes("unknown")) {
    response.writeHead(404, { "content-type": "application/json" });
    response.end('{"error":{"code":404,"message":"No such model.","status":"NOT_FOUND"}}');
    return;
  }
  response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
  const texts = answers.map((one) => JSON.stringify(one));
  response.end(texts.map((text) => (isStream ? `data: ${text}\r\n\r\n` : text)).join(""));
});
let test: TestApp;
let baseUrl: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  test = await startApp({ settings: { GEMINI_UPSTREAM_URL: url, GEMINI_UPSTREAM_API_KEY: OPERATOR } });
  baseUrl = await test.app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await test.close();
  provider.closeAllConnections();
  await new Promise((resolve) => provider.close(resolve));
});

let projects = 0;
function client(apiKey = ROOT_KEY, more: Readonly<Record<string, string>> = {}, apiVersion = "v1beta") {
  const project = `acme/google-${projects++}`;
  const headers = { "x-sumtree-project": project, ...more };
  return { project, ai: new GoogleGenAI({ apiKey, apiVersion, httpOptions: { baseUrl, headers } }) };
}

/** Operation and usage of the only call of a project. */
async function recorded(project_id: string): Promise<unknown> {
  const lines = async () => (await test.post("/calls/stream_query", { project_id })).text.trim().split("\n");
  await until(async () => (await lines())[0] !== "");
  const calls = (await lines()).map((line) => JSON.parse(line) as { id: string; op_name: string });
  expect(calls).toHaveLength(1);
  const { id, op_name } = calls[0]!;
  const { call_usage } = (await test.post("/trace/usage", { project_id })).json();
  return { op_name, usage: call_usage[id] };
}

const generated = {
  op_name: "google.genai.models.generate_content",
  usage: { [model]: { prompt_tokens: 14, completion_tokens: 103, total_tokens: 117, requests: 1 } },
};

it("generates content; its key stays here, and the operator's goes out", async () => {
  const { ai, project } = client();
  const answer = await ai.models.generateContent({ model, contents: "Hello" });
  expect([answer.text, answer.usageMetadata]).toEqual(["Every call costs 🌲", usageMetadata]);
  const { url, headers } = seen.at(-1)!;
  expect([url, headers["x-goog-api-key"]]).toEqual([`/v1beta/models/${model}:generateContent`, OPERATOR]);
  expect(headers["x-goog-api-client"]).toContain("google-genai-sdk");
  expect(JSON.stringify(seen)).not.toContain(ROOT_KEY);
  expect(await recorded(project)).toMatchObject(generated);
});

it.each(["v1", "v1beta"])("streams content by %s", async (version) => {
  const { ai, project } = client(ROOT_KEY, {}, version);
  const texts: (string | undefined)[] = [];
  for await (const chunk of await ai.models.generateContentStream({ model, contents: "Hello" }))
    texts.push(chunk.text);
  expect(texts).toEqual(["Every call ", "costs 🌲"]);
  expect(await recorded(project)).toMatchObject(generated);
});

it("embeds content, which is estimated, and counts tokens, which is free", async () => {
  const { ai, project } = client();
  expect((await ai.models.countTokens({ model, contents: "Hello" })).totalTokens).toBe(31);
  const made = await ai.models.embedContent({ model: "gemini-embedding-001", contents: "Four bytes each." });
  expect(made.embeddings?.[0]?.values).toEqual([0.25, 0.5]);
  expect(await recorded(project)).toMatchObject({
    op_name: "google.genai.models.embed_content",
    usage: { "gemini-embedding-001": { prompt_tokens: 4, completion_tokens: 0 } },
  });
});

it("reads errors of the upstream and of the gateway", async () => {
  const failed = async (ai: GoogleGenAI, name = model): Promise<unknown> => {
    const error: unknown = await ai.models
      .generateContent({ model: name, contents: "Hello" })
      .catch((cause) => cause);
    expect(error).toBeInstanceOf(ApiError);
    return [
      (error as ApiError).status,
      (JSON.parse((error as ApiError).message) as { error: unknown }).error,
    ];
  };
  expect(await failed(client().ai, "unknown")).toMatchObject([404, { message: "No such model." }]);
  const shown = { code: 401, message: "Authentication failed", status: "UNAUTHENTICATED" };
  expect(await failed(client("wrong").ai)).toEqual([401, shown]);
});

it("sends its own key beside x-sumtree-key", async () => {
  const { ai, project } = client("AIza-of-the-client", { "x-sumtree-key": ROOT_KEY });
  await ai.models.generateContent({ model, contents: "Hello" });
  expect(seen.at(-1)!.headers["x-goog-api-key"]).toBe("AIza-of-the-client");
  expect(JSON.stringify(seen)).not.toContain(ROOT_KEY);
  expect(await recorded(project)).toMatchObject(generated);
});
