import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProvider, type Provider, type Received } from "../helpers/provider.ts";
import { awaitCalls, callsOf, keyOf } from "../helpers/recorded-calls.ts";
import { ROOT_KEY, startApp, startAppOn, type TestApp } from "../helpers/start-app.ts";

const seen: (Received & { readonly name: string })[] = [];
const providers: Provider[] = [];
let dir: string;
let failing = false;

/** A server that tells its name and lists models, those of Anthropic in two pages. */
async function upstream(name: string, ids: readonly string[]): Promise<string> {
  const started = await startProvider((received, response) => {
    seen.push({ name, ...received });
    const { method, url } = received;
    const isList = url.startsWith("/v1/models");
    if (method === "GET" && isList && failing && name === "other") return response.writeHead(500).end("{}");
    const id = url.startsWith("/v1/responses") ? `resp_0a1B2c3D4e5F-${name}` : "x";
    if (url.startsWith("/v1beta/models?")) {
      const next = url.includes("pageToken=") ? undefined : "2";
      const models = [{ name: `models/${next === undefined ? ids.at(-1) : ids[0]}` }];
      return response.end(JSON.stringify({ models, nextPageToken: next }));
    }
    if (!isList) return response.end(JSON.stringify({ id, by: name, status: "completed" }));
    if (name !== "claude") {
      const data = ids.map((of) => ({ id: of, object: "model", created: 1_700_000_000, owned_by: name }));
      return response.end(JSON.stringify({ object: "list", data }));
    }
    const isFirst = !url.includes("after_id=");
    const created_at = "2026-01-01T00:00:00Z";
    const data = (isFirst ? ids.slice(0, 2) : ids.slice(2)).map((of) => ({
      type: "model",
      id: of,
      display_name: of.toUpperCase(),
      created_at,
    }));
    return response.end(JSON.stringify({ data, has_more: isFirst, last_id: data.at(-1)!.id }));
  });
  providers.push(started);
  return started.origin;
}

let test: TestApp;
let base: string;
/** Authorization with a key for one project. */
let ownKey: string;
let settings: Readonly<Record<string, string>>;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "sumtree-routes-"));
  const url = `${await upstream("claude", ["claude-a", "claude-b", "claude-c"])}/v1`;
  const local = `${await upstream("local", ["qwen-1", "qwen-2"])}/v1`;
  const other = `${await upstream("other", ["gpt-5", "qwen-1"])}/v1`;
  const gemini = {
    api: "gemini",
    url: await upstream("gemini", ["gemini-x", "gemini-y"]),
    api_key_env: "GEMINI_KEY",
  };
  const file = join(dir, "routes.json");
  const paths = ["/v1/chat/*", "/v1/embeddings", "/v1/models/*"];
  const routes = [
    { paths: ["/v1/messages*"], models: ["claude-*"], api: "anthropic", url, api_key_env: "CLAUDE_KEY" },
    { models: ["qwen-*", "*-local"], api: "openai", url: local, api_key_env: "LOCAL_KEY" },
    { models: ["gemini-*"], ...gemini },
    { paths: ["/v1beta/files*"], ...gemini },
    { paths, api: "openai", url: other, provider: "groq" },
  ];
  writeFileSync(file, JSON.stringify(routes));
  settings = {
    GATEWAY_ROUTES_FILE: file,
    CLAUDE_KEY: "sk-ant-claude",
    LOCAL_KEY: "sk-local",
    GEMINI_KEY: "google-key",
    TRAINING_UPSTREAM_URL: `${await upstream("training", ["job"])}/v1`,
    GATEWAY_PASSTHROUGH_PATHS: "/preview,/training,GET /models,/moderations,POST /videos,GET /v1beta/files",
  };
  test = await startApp({ settings });
  base = await test.app.listen({ host: "127.0.0.1", port: 0 });
  ownKey = await keyOf(test, ["acme/own"], ["train"]);
});
afterAll(async () => {
  await test.close();
  for (const provider of providers) await provider.close();
  rmSync(dir, { recursive: true });
});

async function ask(
  url: string,
  {
    method = "POST",
    body,
    headers = {},
    origin = base,
  }: { method?: "GET" | "POST"; body?: object | string; headers?: object; origin?: string } = {},
) {
  const response = await fetch(`${origin}/v1${url}`, {
    method,
    headers: { authorization: `Bearer ${ROOT_KEY}`, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const json = (await response.json()) as Record<string, unknown>;
  return { status: response.status, json, last: seen.at(-1)! };
}

describe("GATEWAY_ROUTES_FILE", () => {
  it.each<[string, object, string]>([
    ["/messages", { model: "claude-x" }, "claude"],
    ["/messages", { model: "a-local" }, "local"],
    ["/chat/completions", { model: "qwen-3" }, "local"],
    ["/chat/completions", { model: "gpt-5" }, "other"],
    ["/embeddings", { model: "x" }, "other"],
    ["/chat/completions", { padding: "x".repeat(5_000_000), model: "qwen-3" }, "local"],
    ["/chat//%63ompletions/", { model: "qwen-3" }, "local"],
    ["/messages/count_tokens", { model: "claude-x" }, "claude"],
    ["/messages/count_tokens/", { messages: [], model: "a-local" }, "local"],
    ["/Messages/%63ount_tokens?beta=true", { model: "claude-x" }, "claude"],
    ["/responses/input_tokens", { model: "qwen-3" }, "local"],
    ["/moderations", { padding: "x".repeat(500_000), model: "b-local" }, "local"],
    ["/moderations/below", { input: [{ model: "gpt-5" }], model: "qwen-3" }, "local"],
  ])("%s is routed by path and model, byte for byte", async (path, body, name) => {
    const text = JSON.stringify(body, undefined, 1);
    for (const headers of [
      {},
      { "x-sumtree-project": "acme/routes" },
      { authorization: `Bearer ${ownKey}` },
    ]) {
      const { status, json, last } = await ask(path, { body: text, headers });
      expect([status, json["by"], last.body.toString() === text]).toEqual([200, name, true]);
    }
  });

  it("routes Gemini's API by the model of the path, as it came, to upstreams of its own", async () => {
    const own = { authorization: `Bearer ${ownKey}` };
    for (const path of ["/models/gemini-x:generateContent", "beta/models/gemini-x:countTokens?alt=json"])
      for (const headers of [{}, { "x-sumtree-project": "acme/routes" }, own]) {
        const { status, last } = await ask(path, { body: { model: "qwen-3", contents: [] }, headers });
        expect([status, last.name, last.url]).toEqual([200, "gemini", `/v1${path}`]);
        expect(last.headers).toMatchObject({ "x-goog-api-key": "google-key" });
        expect(last.headers).not.toHaveProperty("authorization");
      }
    expect((await ask("beta/files/1", { method: "GET" })).last.name).toBe("gemini");
    const before = seen.length;
    // of the model of an OpenAI upstream, of no model, and not listed
    const others = [
      "beta/models/qwen-3:generateContent",
      "beta/cachedContents",
      "beta/files",
      "beta/models/gemini-x:tune",
    ];
    for (const path of others) {
      const { status, json } = await ask(path, { body: {} });
      expect([path, status, json["error"]]).toMatchObject([path, 404, { status: "NOT_FOUND" }]);
    }
    expect((await ask("/chat/completions", { body: { model: "gemini-x" } })).json["by"]).toBe("other");
    expect(seen).toHaveLength(before + 1);
  });

  it("reads the model despite escapes, the last of two, and that of a form, measured or not", async () => {
    const text = String.raw`{"model":"gpt-5","mo\u0064el":"qwen\u002d9"}`;
    expect((await ask("/chat/completions", { body: text })).json).toMatchObject({ by: "local" });
    const body = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper-local\r\n--b--\r\n';
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    for (const path of ["/audio/transcriptions", "/videos"])
      expect((await ask(path, { body, headers })).json["by"]).toBe("local");
  });

  it("sends each key in the format of its API, also for a client with only x-sumtree-key", async () => {
    const own = { authorization: "", "x-api-key": "", "x-sumtree-key": ROOT_KEY };
    for (const [path, model, headers, bearer, key] of [
      ["/messages", "claude-x", {}, undefined, "sk-ant-claude"],
      ["/messages", "claude-x", own, undefined, "sk-ant-claude"],
      ["/messages", "claude-x", { ...own, authorization: "Bearer" }, undefined, "sk-ant-claude"],
      ["/chat/completions", "qwen-3", {}, "Bearer sk-local", undefined],
      ["/chat/completions", "m", {}, undefined, undefined],
    ] as const) {
      const { status, last } = await ask(path, { body: { model }, headers });
      const { authorization, "x-api-key": sent, "x-sumtree-key": ours } = last.headers;
      expect([status, authorization, sent, ours]).toEqual([200, bearer, key, undefined]);
    }
  });

  it("returns 404 if no entry matches, and sends nothing upstream", async () => {
    const before = seen.length;
    for (const [path, body] of [
      ["/messages", { model: "gpt-5" }],
      ["/messages", {}],
      ["/responses", { model: "gpt-5" }],
      ["/messages/count_tokens", { model: "gpt-5" }],
      ["/responses/input_tokens", {}],
      ["/moderations", { input: { model: "qwen-3" } }],
    ] as const) {
      const { status, json } = await ask(path, { body });
      expect([status, JSON.stringify(json)]).toEqual([404, expect.stringContaining("GATEWAY_ROUTES_FILE")]);
    }
    expect(seen).toHaveLength(before);
  });

  it("routes a request by response id to the upstream that created it, after a restart too", async () => {
    const headers = { "x-sumtree-project": "acme/by-id" };
    const path = "/responses/resp_0a1B2c3D4e5F-local";
    // no entry matches the path without a model
    expect((await ask(path, { method: "GET", headers })).status).toBe(404);
    await ask("/responses", { body: { model: "qwen-3" }, headers });
    expect((await ask(path, { method: "GET", headers })).json["by"]).toBe("local");
    await awaitCalls(test, "acme/by-id", 1);
    const restarted = await startAppOn(test.engine, { settings });
    const origin = await restarted.app.listen({ host: "127.0.0.1", port: 0 });
    expect((await ask(`${path}/input_items`, { method: "GET", headers, origin })).json["by"]).toBe("local");
    expect((await ask(`${path}/cancel`, { headers, origin })).json["by"]).toBe("local");
    await restarted.close();
    expect(await callsOf(test, "acme/by-id")).toHaveLength(1);
  });

  it("does not route training, which has its own upstream", async () => {
    expect((await ask("/training/anything", { body: {} })).json["by"]).toBe("training");
    expect((await ask("/preview/models", { method: "GET" })).last.name).toBe("training");
  });
});

describe("GET /v1/models", () => {
  const idsOf = (list: unknown): string[] => (list as { id: string }[]).map(({ id }) => id);
  const all = ["claude-a", "claude-b", "claude-c", "qwen-1", "qwen-2", "gemini-x", "gemini-y", "gpt-5"];

  it("merges all lists, over pages, each id once, in OpenAI's format", async () => {
    const { json } = await ask("/models", { method: "GET" });
    expect([json["object"], idsOf(json["data"])]).toEqual(["list", all]);
    expect(json["data"]).toEqual(
      expect.arrayContaining([
        { id: "qwen-1", object: "model", created: 1_700_000_000, owned_by: "local" },
        expect.objectContaining({ id: "claude-a", object: "model", created: 1_767_225_600 }),
        expect.objectContaining({ id: "gemini-x", owned_by: "google" }),
      ]),
    );
    const pages = seen.filter(({ name, url }) => name === "claude" && url.startsWith("/v1/models"));
    expect(pages).toHaveLength(2);
    expect(pages[0]!.headers["anthropic-version"]).toBe("2023-06-01");
  });

  it("has Anthropic's format for its clients, and Codex's for Codex", async () => {
    const headers = { "anthropic-version": "2023-06-01" };
    const { json } = await ask("/models?limit=1000", { method: "GET", headers });
    expect(json).toMatchObject({ has_more: false, first_id: "claude-a", last_id: "gpt-5" });
    const created_at = "2026-01-01T00:00:00Z";
    const last = { type: "model", id: "claude-c", display_name: "CLAUDE-C", created_at };
    expect(json["data"]).toContainEqual(last);
    expect(idsOf(json["data"])).toEqual(all);
    const { json: codex } = await ask("/models?client_version=0.1", { method: "GET" });
    expect((codex["models"] as object[]).length).toBe(all.length);
  });

  it("omits an upstream that fails", async () => {
    failing = true;
    const { json } = await ask("/models", { method: "GET" });
    failing = false;
    expect(idsOf(json["data"])).toEqual(all.filter((id) => id !== "gpt-5"));
  });

  it("sends credentials of a client only to the API that it uses", async () => {
    const before = seen.length;
    const own = { "x-sumtree-key": ROOT_KEY, "anthropic-version": "2023-06-01" };
    const headers = { authorization: "Bearer sk-ant-oat01-x", ...own };
    await ask("/models", { method: "GET", headers });
    expect(seen.slice(before).map(({ name, headers: sent }) => [name, sent.authorization])).toEqual([
      ["claude", "Bearer sk-ant-oat01-x"],
    ]);
  });
});
