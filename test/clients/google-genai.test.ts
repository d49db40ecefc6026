import { ApiError, GoogleGenAI } from "@google/genai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startProvided, type ProvidedApp } from "../helpers/provider.ts";
import { onlyCall } from "../helpers/recorded-calls.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";

const OPERATOR = "google-key-of-the-operator";
const model = "gemini-2.5-flash";
const contents = "Four bytes each.";
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

let test: ProvidedApp;
beforeAll(async () => {
  test = await startProvided(
    ({ url }, response) => {
      if (url.includes("unknown"))
        return response.writeHead(404).end('{"error":{"code":404,"message":"No such model."}}');
      const texts = ANSWERS[/:(\w+)/.exec(url)![1]!]!.map((one) => JSON.stringify(one));
      if (!url.includes("alt=sse")) return response.end(texts[0]);
      response.setHeader("content-type", "text/event-stream");
      return response.end(texts.map((text) => `data: ${text}\r\n\r\n`).join(""));
    },
    (origin) => ({ GEMINI_UPSTREAM_URL: origin, GEMINI_UPSTREAM_API_KEY: OPERATOR }),
  );
});
afterAll(() => test.close());

let projects = 0;
function client(apiKey = ROOT_KEY, more: Readonly<Record<string, string>> = {}, apiVersion = "v1beta") {
  const project = `acme/google-${projects++}`;
  const headers = { "x-sumtree-project": project, ...more };
  return {
    project,
    ai: new GoogleGenAI({ apiKey, apiVersion, httpOptions: { baseUrl: test.origin, headers } }),
  };
}

const used = { prompt_tokens: 14, completion_tokens: 103, total_tokens: 117, requests: 1 };
const generated = { op_name: "google.genai.models.generate_content", used: { [model]: used } };

it("generates content; its key stays here, and the operator's goes out, or its own beside x-sumtree-key", async () => {
  for (const [{ ai, project }, key] of [
    [client(), OPERATOR],
    [client("AIza-of-the-client", { "x-sumtree-key": ROOT_KEY }), "AIza-of-the-client"],
  ] as const) {
    const answer = await ai.models.generateContent({ model, contents });
    expect([answer.text, answer.usageMetadata]).toEqual(["Every call costs 🌲", usageMetadata]);
    const { url, headers } = test.provider.seen.at(-1)!;
    expect([url, headers["x-goog-api-key"]]).toEqual([`/v1beta/models/${model}:generateContent`, key]);
    expect(headers["x-goog-api-client"]).toContain("google-genai-sdk");
    expect(JSON.stringify(headers)).not.toContain(ROOT_KEY);
    expect(await onlyCall(test, project)).toMatchObject(generated);
  }
});

it.each(["v1", "v1beta"])("streams content by %s", async (version) => {
  const { ai, project } = client(ROOT_KEY, {}, version);
  const texts: (string | undefined)[] = [];
  for await (const { text } of await ai.models.generateContentStream({ model, contents })) texts.push(text);
  expect(texts).toEqual(["Every call ", "costs 🌲"]);
  expect(await onlyCall(test, project)).toMatchObject(generated);
});

it("embeds content, which is estimated, and counts tokens, which is free", async () => {
  const { ai, project } = client();
  expect((await ai.models.countTokens({ model, contents })).totalTokens).toBe(31);
  const made = await ai.models.embedContent({ model: "gemini-embedding-001", contents });
  expect(made.embeddings?.[0]?.values).toEqual([0.25, 0.5]);
  expect(await onlyCall(test, project)).toMatchObject({
    op_name: "google.genai.models.embed_content",
    used: { "gemini-embedding-001": { prompt_tokens: 4, completion_tokens: 0 } },
  });
});

it("reads errors of the upstream and of the gateway", async () => {
  for (const [{ ai }, name, status, message] of [
    [client(), "unknown", 404, "No such model."],
    [client("wrong"), model, 401, "Authentication failed"],
  ] as const) {
    const asked = ai.models.generateContent({ model: name, contents });
    const error: unknown = await asked.catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status });
    expect(JSON.parse((error as ApiError).message)).toMatchObject({ error: { code: status, message } });
  }
});
