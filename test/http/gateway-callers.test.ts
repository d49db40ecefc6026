import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeRequest, intAttribute, spanInit, textAttribute } from "../helpers/otlp-request.ts";
import { startProvider, type Provider } from "../helpers/provider.ts";
import { awaitCalls, onlyCall } from "../helpers/recorded-calls.ts";
import { ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";

const USED = { input_tokens: 11, output_tokens: 5, total_tokens: 16 };
/** Paths with their requests, the ids of their responses, and more of these. */
const APIS = {
  "/v1/responses": [{ model: "gpt-5", input: "Hi" }, "resp_68a1b2C3d4E5f6A7b8C9d0E1f2A3b4C5"],
  "/v1/messages": [
    { model: "claude-sonnet-4-5", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
    "msg_01XFDUDYJgAACzvnptvVoYEL",
  ],
} as const;
type Path = keyof typeof APIS;
const PATHS = Object.keys(APIS) as Path[];

let provider: Provider;
let test: TestApp;
let origin: string;
beforeAll(async () => {
  provider = await startProvider(({ url }, response) => {
    const [body, id] = APIS[url as Path] ?? [{ model: undefined }];
    const status = url === "/v1/messages" ? { type: "message" } : { status: "completed" };
    response.setHeader("x-codex-primary-used-percent", "12");
    response.end(JSON.stringify({ id, model: body.model, ...status, usage: USED }));
  });
  const url = `${provider.origin}/v1`;
  test = await startApp({ settings: { CHAT_UPSTREAM_URL: url, ANTHROPIC_UPSTREAM_URL: url } });
  origin = await test.app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await test.close();
  await provider.close();
});

let projects = 0;
const newProject = (): string => `acme/callers-${++projects}`;
const bearer = { authorization: `Bearer ${ROOT_KEY}` };

async function ask(path: Path, project: string, headers: object = {}, members: object = {}) {
  const response = await fetch(origin + path, {
    method: "POST",
    headers: { ...bearer, "content-type": "application/json", "x-sumtree-project": project, ...headers },
    body: JSON.stringify({ ...APIS[path][0], ...members }),
  });
  expect([response.status, await response.json()]).toMatchObject([200, { id: APIS[path][1] }]);
  return response;
}

it.each<readonly [headers: object, members: object, thread: string | null, user: string | null]>([
  [
    { "x-claude-code-session-id": "s-7" },
    { metadata: { user_id: "user-1" }, user: "user-2" },
    "s-7",
    "user-1",
  ],
  [{ session_id: "s-7" }, { user: "user-2", safety_identifier: "user-3" }, "s-7", "user-2"],
  [{ "session-id": "s-7" }, { safety_identifier: "user-3" }, "s-7", "user-3"],
  [{ "x-session-id": "s-7" }, { metadata: { user_id: 7 }, user: "" }, "s-7", null],
  [{ session_id: "s".repeat(257) }, {}, null, null],
  [{ session_id: "" }, {}, null, null],
])(
  "a client of headers %j and members %j has a thread and a user",
  async (headers, members, thread, user) => {
    for (const path of PATHS) {
      const project = newProject();
      await ask(path, project, headers, members);
      expect(await onlyCall(test, project)).toMatchObject({ thread_id: thread, wb_user_id: user });
    }
  },
);

it("headers of Codex pass in both directions, and others do not", async () => {
  const sent = {
    "x-codex-turn-metadata": '{"turn":1}',
    "x-codex-beta-features": "a",
    originator: "codex_cli",
  };
  const response = await ask("/v1/responses", newProject(), { ...sent, "x-other": "stays" });
  const { headers } = provider.seen.at(-1)!;
  expect(headers).toMatchObject(sent);
  for (const name of ["x-other", "x-sumtree-project"]) expect(headers).not.toHaveProperty(name);
  expect(response.headers.get("x-codex-primary-used-percent")).toBe("12");
});

it("/api/hello responds itself without a key, and only at this path", async () => {
  const { length } = provider.seen;
  const got = await fetch(`${origin}/api/hello`);
  expect([got.status, await got.json()]).toEqual([200, { message: "hello" }]);
  const asked = await fetch(`${origin}/api/hello`, { method: "HEAD" });
  expect([asked.status, await asked.text()]).toEqual([200, ""]);
  for (const path of ["/api/hello/x", "/api/other"]) expect((await fetch(origin + path)).ok).toBe(false);
  expect(provider.seen).toHaveLength(length);
});

it.each([
  ["/v1/audio/translations", "file", "whisper-1", "openai.audio.translations.create"],
  ["/v1/images/edits", "image", "gpt-image-1", "openai.images.edit"],
])("a form to %s is recorded under the model behind its file", async (path, file, model, op_name) => {
  const project = newProject();
  const body = new FormData();
  body.append(file, new Blob([new Uint8Array(70_000)]), "sent.bin");
  body.append("model", model);
  const headers = { ...bearer, "x-sumtree-project": project };
  await (await fetch(origin + path, { method: "POST", headers, body })).json();
  const used = { requests: 1, prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 };
  expect(await onlyCall(test, project)).toMatchObject({
    op_name,
    attributes: { sumtree: { usage: "exact" } },
    used: { [model]: used },
  });
});

describe("a completion reported by a span and by the gateway", () => {
  const TRACE = "0af7651916cd43dd8448eb211c80319c";
  const CALLER = "00000000000000a1";

  async function sendSpan(path: Path, project: string, id: string): Promise<void> {
    const now = BigInt(Date.now()) * 1_000_000n;
    const span = spanInit(0, {
      traceId: Buffer.from(TRACE, "hex"),
      spanId: Buffer.from(CALLER, "hex"),
      startTimeUnixNano: now,
      endTimeUnixNano: now + 1_000_000n,
      attributes: [
        textAttribute("gen_ai.response.id", id),
        textAttribute("gen_ai.response.model", APIS[path][0].model),
        intAttribute("gen_ai.usage.input_tokens", 11n),
        intAttribute("gen_ai.usage.output_tokens", 5n),
      ],
    });
    const response = await fetch(`${origin}/otel/v1/traces`, {
      method: "POST",
      headers: { ...bearer, "content-type": "application/x-protobuf" },
      body: encodeRequest({ spans: [span], resource: { "sumtree.project": project } }),
    });
    expect(response.status).toBe(200);
  }

  it.each(
    PATHS.flatMap((path) =>
      (["span", "gateway", "other id"] as const).map((first) => ({
        path,
        first,
        once: first !== "other id",
      })),
    ),
  )("counts once at $path, in any order, if the ids are the same: $first", async ({ path, first, once }) => {
    const project = newProject();
    const id = once ? APIS[path][1] : APIS[path][1].replace(/.$/, "Z");
    const headers = once
      ? { traceparent: `00-${TRACE}-${CALLER}-01` }
      : { "x-sumtree-trace-id": TRACE, "x-sumtree-parent-id": "00000000000000ff" };
    const steps = [() => sendSpan(path, project, id), () => ask(path, project, headers)];
    for (const step of first === "gateway" ? steps.toReversed() : steps) await step();
    await awaitCalls(test, project, 2);
    const asked = { project_id: project, start: "2026-01-01T00:00:00Z" };
    const requests = once ? 1 : 2;
    expect((await test.post("/usage/stats", asked)).json().total).toMatchObject({
      calls: 2,
      requests,
      prompt_tokens: 11 * requests,
      completion_tokens: 5 * requests,
    });
  });
});
