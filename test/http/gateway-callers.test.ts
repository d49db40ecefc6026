import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startProvided, type ProvidedApp, type Received } from "../helpers/provider.ts";
import { awaitCalls } from "../helpers/recorded-calls.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";

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

/** A request whose connection is reset behind the last event of its stream. */
const RESET = "reset";
const event = (one: { readonly type: string }): string =>
  `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`;
const STREAMS: Readonly<Record<Path, string>> = {
  "/v1/responses": event({ type: "response.completed", response: { status: "completed" } } as never),
  "/v1/messages": event({ type: "message_start" }) + event({ type: "message_stop" }),
};

let reset: () => void;
let test: ProvidedApp;
beforeAll(async () => {
  const answer = ({ url, headers }: Received, response: ServerResponse) => {
    const [{ model }, id] = APIS[url as Path];
    if (headers["x-client-request-id"] === RESET) {
      response.setHeader("content-type", "text/event-stream");
      response.write(STREAMS[url as Path]);
      reset = () => void response.socket?.resetAndDestroy();
      return;
    }
    const status = url === "/v1/messages" ? { type: "message" } : { status: "completed" };
    response.setHeader("x-codex-primary-used-percent", "12");
    response.end(JSON.stringify({ id, model, ...status, usage: USED }));
  };
  test = await startProvided(answer, (origin) => ({
    CHAT_UPSTREAM_URL: `${origin}/v1`,
    ANTHROPIC_UPSTREAM_URL: `${origin}/v1`,
  }));
});
afterAll(() => test.close());

let projects = 0;
const newProject = (): string => `acme/callers-${++projects}`;
const bearer = { authorization: `Bearer ${ROOT_KEY}` };

async function ask(path: Path, project: string, headers: object = {}, members: object = {}) {
  const response = await fetch(test.origin + path, {
    method: "POST",
    headers: { ...bearer, "content-type": "application/json", "x-sumtree-project": project, ...headers },
    body: JSON.stringify({ ...APIS[path][0], ...members }),
  });
  expect([response.status, await response.json()]).toMatchObject([200, { id: APIS[path][1] }]);
  return response;
}

const CALLERS: readonly (readonly [
  headers: object,
  members: object,
  thread: string | null,
  user: string | null,
])[] = [
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
];

it.each(PATHS)("headers and members of a client name its thread and its user: %s", async (path) => {
  const project = newProject();
  for (const [headers, members] of CALLERS) await ask(path, project, headers, members);
  expect(await awaitCalls(test, project, CALLERS.length)).toMatchObject(
    CALLERS.map(([, , thread_id, wb_user_id]) => ({ thread_id, wb_user_id })),
  );
});

it("headers of Codex pass in both directions, and others do not", async () => {
  const sent = {
    "x-codex-turn-metadata": '{"turn":1}',
    "x-codex-beta-features": "a",
    originator: "codex_cli",
  };
  const response = await ask("/v1/responses", newProject(), { ...sent, "x-other": "stays" });
  const { headers } = test.provider.seen.at(-1)!;
  expect(headers).toMatchObject(sent);
  for (const name of ["x-other", "x-sumtree-project"]) expect(headers).not.toHaveProperty(name);
  expect(response.headers.get("x-codex-primary-used-percent")).toBe("12");
});

it("/api/hello responds itself without a key, and only at this path", async () => {
  const { length } = test.provider.seen;
  const got = await fetch(`${test.origin}/api/hello`);
  expect([got.status, await got.json()]).toEqual([200, { message: "hello" }]);
  const asked = await fetch(`${test.origin}/api/hello`, { method: "HEAD" });
  expect([asked.status, await asked.text()]).toEqual([200, ""]);
  for (const path of ["/api/hello/x", "/api/other"]) expect((await fetch(test.origin + path)).ok).toBe(false);
  expect(test.provider.seen).toHaveLength(length);
});

it("a stream is complete for its client if the connection is reset after its last event", async () => {
  for (const path of PATHS) {
    const response = await fetch(test.origin + path, {
      method: "POST",
      headers: { ...bearer, "x-client-request-id": RESET },
      body: JSON.stringify({ ...APIS[path][0], stream: true }),
    });
    let text = "";
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      text += part;
      if (text === STREAMS[path]) reset();
    }
    expect(text).toBe(STREAMS[path]);
  }
});
