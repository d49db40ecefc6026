import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT_KEY, startApp, startAppOn, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

interface Seen {
  readonly name: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  body: string;
}

const seen: Seen[] = [];
const servers: Server[] = [];
let dir: string;
let failing = false;

/** A server that tells its name and lists two pages of models. */
async function upstream(name: string, api: "openai" | "anthropic", ids: readonly string[]): Promise<string> {
  const server = createServer((asked, response) => {
    const url = asked.url!;
    const one: Seen = { name, url, headers: asked.headers, body: "" };
    seen.push(one);
    response.setHeader("content-type", "application/json");
    if (asked.method === "GET" && url.startsWith("/v1/models") && failing && name === "other") {
      response.writeHead(500).end("{}");
      return;
    }
    const query = new URL(url, "http://x").searchParams;
    const after = query.get("after_id") ?? query.get("pageToken");
    const page = after === null ? ids.slice(0, 2) : ids.slice(2);
    const shown = (id: string): object =>
      api === "openai"
        ? { id, object: "model", created: 1_700_000_000, owned_by: name }
        : { type: "model", id, display_name: id.toUpperCase(), created_at: "2026-01-01T00:00:00Z" };
    if (url.startsWith("/v1beta/models?"))
      response.end(
        JSON.stringify({
          models: ids
            .slice(after === null ? 0 : 1, after === null ? 1 : 2)
            .map((id) => ({ name: `models/${id}` })),
          ...(after === null && { nextPageToken: "2" }),
        }),
      );
    else if (url.startsWith("/v1/models") && api === "anthropic")
      response.end(JSON.stringify({ data: page.map(shown), has_more: after === null, last_id: page.at(-1) }));
    else if (url.startsWith("/v1/models"))
      response.end(JSON.stringify({ object: "list", data: ids.map(shown) }));
    else {
      asked.setEncoding("utf8").on("data", (part: string) => (one.body += part));
      const id = url.startsWith("/v1/responses") ? `resp_0a1B2c3D4e5F-${name}` : "x";
      asked.on("end", () => response.end(JSON.stringify({ id, by: name, status: "completed" })));
    }
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

let test: TestApp;
let base: string;
/** Authorization with a key for one project. */
let ownKey: string;
let settings: Readonly<Record<string, string>>;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "sumtree-routes-"));
  const claude = await upstream("claude", "anthropic", ["claude-a", "claude-b", "claude-c"]);
  const local = await upstream("local", "openai", ["qwen-1", "qwen-2"]);
  const other = await upstream("other", "openai", ["gpt-5", "qwen-1"]);
  const gemini = (await upstream("gemini", "openai", ["gemini-x", "gemini-y"])).replace(/\/v1$/, "");
  const training = await upstream("training", "openai", ["job"]);
  const file = join(dir, "routes.json");
  writeFileSync(
    file,
    JSON.stringify([
      {
        paths: ["/v1/messages*"],
        models: ["claude-*"],
        api: "anthropic",
        url: claude,
        api_key_env: "CLAUDE_KEY",
      },
      { models: ["qwen-*", "*-local"], api: "openai", url: local, api_key_env: "LOCAL_KEY" },
      { models: ["gemini-*"], api: "gemini", url: gemini, api_key_env: "GEMINI_KEY" },
      { paths: ["/v1beta/files*"], api: "gemini", url: gemini, api_key_env: "GEMINI_KEY" },
      {
        paths: ["/v1/chat/*", "/v1/embeddings", "/v1/models/*"],
        api: "openai",
        url: other,
        provider: "groq",
      },
    ]),
  );
  settings = {
    GATEWAY_ROUTES_FILE: file,
    CLAUDE_KEY: "sk-ant-claude",
    LOCAL_KEY: "sk-local",
    GEMINI_KEY: "google-key",
    TRAINING_UPSTREAM_URL: training,
    GATEWAY_PASSTHROUGH_PATHS: "/preview,/training,GET /models,/moderations,POST /videos,GET /v1beta/files",
  };
  test = await startApp({ settings });
  base = await test.app.listen({ host: "127.0.0.1", port: 0 });
  const asked = { name: "own", scopes: ["train"], projects: ["acme/own"] };
  ownKey = ((await test.post("/api-keys", asked)).json() as { key: string }).key;
});
afterAll(async () => {
  await test.close();
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
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
    ["/embeddings", { model: String.raw`x` }, "other"],
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
      expect([status, json["by"], last.body === text]).toEqual([200, name, true]);
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

  it("reads the model despite escapes, and the last of two", async () => {
    const text = String.raw`{"model":"gpt-5","mo\u0064el":"qwen\u002d9"}`;
    expect((await ask("/chat/completions", { body: text })).json).toMatchObject({ by: "local" });
  });

  it("sends its own key for a client with only x-sumtree-key", async () => {
    for (const authorization of ["", "Bearer"]) {
      const headers = { authorization, "x-api-key": "", "x-sumtree-key": ROOT_KEY };
      const { status, last } = await ask("/messages", { body: { model: "claude-x" }, headers });
      const { "x-api-key": key, authorization: sent, "x-sumtree-key": ours } = last.headers;
      expect([status, key, sent, ours]).toEqual([200, "sk-ant-claude", undefined, undefined]);
    }
  });

  it("sends each key in the format of its API", async () => {
    expect((await ask("/messages", { body: { model: "claude-x" } })).last.headers).toMatchObject({
      "x-api-key": "sk-ant-claude",
    });
    const { last } = await ask("/chat/completions", { body: { model: "qwen-3" } });
    expect([last.headers.authorization, last.headers["x-api-key"]]).toEqual(["Bearer sk-local", undefined]);
    const { last: bare } = await ask("/chat/completions", { body: { model: "m" } });
    expect([bare.headers.authorization, bare.headers["x-api-key"]]).toEqual([undefined, undefined]);
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

  it("routes a form by its model, measured or not", async () => {
    const field = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper-local\r\n--b--\r\n';
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    for (const path of ["/audio/transcriptions", "/videos"])
      expect((await ask(path, { body: field, headers })).json["by"]).toBe("local");
  });

  it("routes a request by response id to the upstream that created it, after a restart too", async () => {
    const headers = { "x-sumtree-project": "acme/by-id" };
    const path = "/responses/resp_0a1B2c3D4e5F-local";
    // no entry matches the path without a model
    expect((await ask(path, { method: "GET", headers })).status).toBe(404);
    await ask("/responses", { body: { model: "qwen-3" }, headers });
    expect((await ask(path, { method: "GET", headers })).json["by"]).toBe("local");
    const count = async (): Promise<number> =>
      (await test.post("/calls/query_stats", { project_id: "acme/by-id" })).json().count as number;
    await until(async () => (await count()) === 1);
    const restarted = await startAppOn(test.engine, { settings });
    const origin = await restarted.app.listen({ host: "127.0.0.1", port: 0 });
    expect((await ask(`${path}/input_items`, { method: "GET", headers, origin })).json["by"]).toBe("local");
    expect((await ask(`${path}/cancel`, { headers, origin })).json["by"]).toBe("local");
    await restarted.close();
    expect(await count()).toBe(1);
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
    expect(json["data"]).toContainEqual({
      id: "qwen-1",
      object: "model",
      created: 1_700_000_000,
      owned_by: "local",
    });
    expect(json["data"]).toContainEqual(
      expect.objectContaining({ id: "claude-a", object: "model", created: 1_767_225_600 }),
    );
    expect(json["data"]).toContainEqual(expect.objectContaining({ id: "gemini-x", owned_by: "google" }));
    const pages = seen.filter(({ name, url }) => name === "claude" && url.startsWith("/v1/models"));
    expect(pages).toHaveLength(2);
    expect(pages[0]!.headers["anthropic-version"]).toBe("2023-06-01");
  });

  it("has Anthropic's format for its clients, and Codex's for Codex", async () => {
    const { json } = await ask("/models?limit=1000", {
      method: "GET",
      headers: { "anthropic-version": "2023-06-01" },
    });
    expect(json).toMatchObject({ has_more: false, first_id: "claude-a", last_id: "gpt-5" });
    expect(json["data"]).toContainEqual({
      type: "model",
      id: "claude-c",
      display_name: "CLAUDE-C",
      created_at: "2026-01-01T00:00:00Z",
    });
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
    await ask("/models", {
      method: "GET",
      headers: {
        authorization: "Bearer sk-ant-oat01-x",
        "x-sumtree-key": ROOT_KEY,
        "anthropic-version": "2023-06-01",
      },
    });
    expect(seen.slice(before).map(({ name, headers }) => [name, headers.authorization])).toEqual([
      ["claude", "Bearer sk-ant-oat01-x"],
    ]);
  });
});
