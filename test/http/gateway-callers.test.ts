import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeRequest, intAttribute, spanInit, textAttribute } from "../helpers/otlp-request.ts";
import { ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const RESPONSE_ID = "resp_68a1b2C3d4E5f6A7b8C9d0E1f2A3b4C5";
const MESSAGE_ID = "msg_01XFDUDYJgAACzvnptvVoYEL";
const USED = { input_tokens: 11, output_tokens: 5 };
const IMAGE_USED = { ...USED, total_tokens: 16 };

/** Responses of the provider by path. */
const ANSWERS: Readonly<Record<string, object>> = {
  "/v1/responses": {
    id: RESPONSE_ID,
    object: "response",
    status: "completed",
    model: "gpt-5",
    output: [],
    usage: { ...USED, total_tokens: 16 },
  },
  "/v1/messages": {
    id: MESSAGE_ID,
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [{ type: "text", text: "Hi" }],
    stop_reason: "end_turn",
    usage: USED,
  },
  "/v1/audio/translations": { text: "Hello", usage: { type: "tokens", ...USED, total_tokens: 16 } },
  "/v1/images/edits": { created: 1, data: [{ b64_json: "aGk=" }], usage: IMAGE_USED },
};

let seen: IncomingHttpHeaders[] = [];
let provider: Server;
let test: TestApp;
let origin: string;
beforeAll(async () => {
  provider = createServer((request, response) => {
    seen.push(request.headers);
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/json", "x-codex-primary-used-percent": "12" });
      response.end(JSON.stringify(ANSWERS[request.url!]));
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  test = await startApp({ settings: { CHAT_UPSTREAM_URL: url, ANTHROPIC_UPSTREAM_URL: url } });
  origin = await test.app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await test.close();
  provider.closeAllConnections();
  await new Promise((resolve) => provider.close(resolve));
});

const BODIES = {
  "/v1/responses": { model: "gpt-5", input: "Hi" },
  "/v1/messages": { model: "claude-sonnet-4-5", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
} as const;
type JsonPath = keyof typeof BODIES;

let projects = 0;
const newProject = (): string => `acme/callers-${++projects}`;

async function ask(
  path: JsonPath,
  project: string,
  headers: Readonly<Record<string, string>> = {},
  members: object = {},
): Promise<Response> {
  seen = [];
  const response = await fetch(`${origin}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${ROOT_KEY}`,
      "content-type": "application/json",
      "x-sumtree-project": project,
      ...headers,
    },
    body: JSON.stringify({ ...BODIES[path], ...members }),
  });
  expect({ status: response.status, body: await response.json() }).toEqual({
    status: 200,
    body: ANSWERS[path],
  });
  return response;
}

interface Stored {
  readonly id: string;
  readonly op_name: string;
  readonly thread_id: string | null;
  readonly wb_user_id: string | null;
  readonly attributes: { readonly sumtree?: Readonly<Record<string, unknown>> };
}

async function storedCalls(project_id: string, count: number): Promise<readonly Stored[]> {
  const read = async (): Promise<Stored[]> =>
    (await test.post("/calls/stream_query", { project_id })).text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Stored);
  await until(async () => (await read()).length >= count);
  const calls = await read();
  expect(calls).toHaveLength(count);
  return calls;
}

async function onlyCall(project: string): Promise<Stored> {
  return (await storedCalls(project, 1))[0]!;
}

/** Tokens of a project, as the usage of its window. */
async function totalOf(project_id: string): Promise<Readonly<Record<string, number>>> {
  const response = await test.post("/usage/stats", { project_id, start: "2026-01-01T00:00:00Z" });
  return (response.json() as { total: Record<string, number> }).total;
}

describe("the client of a request", () => {
  it.each(["x-claude-code-session-id", "session_id", "session-id", "x-session-id"])(
    "has a thread by %s",
    async (header) => {
      for (const path of Object.keys(BODIES) as JsonPath[]) {
        const project = newProject();
        await ask(path, project, { [header]: "session-7" });
        expect((await onlyCall(project)).thread_id).toBe("session-7");
      }
    },
  );

  it("has no thread without a session, or with a too long one", async () => {
    for (const headers of [{}, { session_id: "s".repeat(257) }, { session_id: "" }]) {
      const project = newProject();
      await ask("/v1/responses", project, headers);
      expect((await onlyCall(project)).thread_id).toBeNull();
    }
  });

  it.each([
    [{ metadata: { user_id: "user-1" } }, "user-1"],
    [{ metadata: { user_id: "user-1" }, user: "user-2" }, "user-1"],
    [{ user: "user-2", safety_identifier: "user-3" }, "user-2"],
    [{ safety_identifier: "user-3" }, "user-3"],
    [{ metadata: { user_id: 7 }, user: "" }, null],
  ])("has a user by %j", async (members, user) => {
    for (const path of Object.keys(BODIES) as JsonPath[]) {
      const project = newProject();
      await ask(path, project, {}, members);
      expect((await onlyCall(project)).wb_user_id).toBe(user);
    }
  });

  it("is identified by headers of Codex, which pass in both directions", async () => {
    const sent = {
      "x-codex-turn-metadata": '{"turn":1}',
      "x-codex-beta-features": "a",
      originator: "codex_cli",
    };
    const response = await ask("/v1/responses", newProject(), { ...sent, "x-other": "stays" });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject(sent);
    expect(seen[0]).not.toHaveProperty("x-other");
    expect(seen[0]).not.toHaveProperty("x-sumtree-project");
    expect(response.headers.get("x-codex-primary-used-percent")).toBe("12");
  });
});

describe("/api/hello", () => {
  it("responds itself without a key, and only at this path", async () => {
    seen = [];
    const got = await fetch(`${origin}/api/hello`);
    expect({ status: got.status, body: await got.json() }).toEqual({
      status: 200,
      body: { message: "hello" },
    });
    const asked = await fetch(`${origin}/api/hello`, { method: "HEAD" });
    expect({ status: asked.status, text: await asked.text() }).toEqual({ status: 200, text: "" });
    const others = ["/api/hello/x", "/api/other"].map(async (path) => (await fetch(`${origin}${path}`)).ok);
    expect(await Promise.all(others)).toEqual([false, false]);
    expect(seen).toEqual([]);
  });
});

describe("a form", () => {
  it.each([
    ["/v1/audio/translations", "file", "whisper-1", "openai.audio.translations.create"],
    ["/v1/images/edits", "image", "gpt-image-1", "openai.images.edit"],
  ])("to %s is recorded under the model in the form", async (path, file, model, op) => {
    const project = newProject();
    const form = new FormData();
    form.append(file, new Blob([new Uint8Array(70_000)]), "sent.bin");
    form.append("model", model);
    const response = await fetch(`${origin}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${ROOT_KEY}`, "x-sumtree-project": project },
      body: form,
    });
    expect(await response.json()).toEqual(ANSWERS[path]);
    const { id, op_name, attributes } = await onlyCall(project);
    expect({ op_name, usage: attributes.sumtree?.["usage"] }).toEqual({ op_name: op, usage: "exact" });
    const usage = (await test.post("/trace/usage", { project_id: project })).json() as {
      call_usage: Record<string, Record<string, object>>;
    };
    expect(Object.keys(usage.call_usage[id]!)).toEqual([model]);
    expect(usage.call_usage[id]![model]).toMatchObject({
      requests: 1,
      prompt_tokens: 11,
      completion_tokens: 5,
      total_tokens: 16,
    });
  });
});

describe("a completion reported by a span and by the gateway", () => {
  const TRACE = "0af7651916cd43dd8448eb211c80319c";
  const CALLER = "00000000000000a1";
  const trace = { traceparent: `00-${TRACE}-${CALLER}-01` };
  const ids = { "/v1/responses": RESPONSE_ID, "/v1/messages": MESSAGE_ID } as const;

  async function sendSpan(path: JsonPath, project: string, id: string): Promise<void> {
    const now = BigInt(Date.now()) * 1_000_000n;
    const span = spanInit(0, {
      traceId: Buffer.from(TRACE, "hex"),
      spanId: Buffer.from(CALLER, "hex"),
      startTimeUnixNano: now,
      endTimeUnixNano: now + 1_000_000n,
      attributes: [
        textAttribute("gen_ai.response.id", id),
        textAttribute("gen_ai.response.model", BODIES[path].model),
        intAttribute("gen_ai.usage.input_tokens", 11n),
        intAttribute("gen_ai.usage.output_tokens", 5n),
      ],
    });
    const response = await fetch(`${origin}/otel/v1/traces`, {
      method: "POST",
      headers: { authorization: `Bearer ${ROOT_KEY}`, "content-type": "application/x-protobuf" },
      body: encodeRequest({ spans: [span], resource: { "sumtree.project": project } }),
    });
    expect(response.status).toBe(200);
  }

  describe.each(Object.keys(BODIES) as JsonPath[])("%s", (path) => {
    it.each(["span", "gateway"])("counts once, the %s first", async (first) => {
      const project = newProject();
      const steps = [() => sendSpan(path, project, ids[path]), () => ask(path, project, trace)];
      for (const step of first === "span" ? steps : steps.toReversed()) await step();
      await storedCalls(project, 2);
      expect(await totalOf(project)).toMatchObject({
        calls: 2,
        requests: 1,
        prompt_tokens: 11,
        completion_tokens: 5,
      });
    });

    it("counts twice if the ids differ", async () => {
      const project = newProject();
      const beside = { "x-sumtree-trace-id": TRACE, "x-sumtree-parent-id": "00000000000000ff" };
      await sendSpan(path, project, ids[path].replace(/.$/, "Z"));
      await ask(path, project, beside);
      await storedCalls(project, 2);
      expect(await totalOf(project)).toMatchObject({ calls: 2, requests: 2, total_tokens: 32 });
    });
  });
});
