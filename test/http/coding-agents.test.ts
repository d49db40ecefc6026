import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

/** A provider that answers each endpoint with one usage. */
const ANSWERS: Readonly<Record<string, object>> = {
  "/v1/messages": {
    id: "msg_01AbCdEfGhIjKlMnOpQrSt",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [{ type: "text", text: "42" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 10, output_tokens: 40 },
  },
  "/v1/responses": {
    id: "resp_0a1B2c3D4e5F6a7B8c9D",
    object: "response",
    status: "completed",
    model: "gpt-5",
    output: [],
    usage: { input_tokens: 10, output_tokens: 40, total_tokens: 50 },
  },
};
const PASSED_BACK = {
  "openai-model": "gpt-5",
  "x-codex-turn-state": "state-1",
  "x-models-etag": "e1",
  "x-openai-authorization-error": "none",
  "x-reasoning-included": "true",
};

let seen: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = [];
let provider: Server;
let test: TestApp;
let origin: string;
beforeAll(async () => {
  provider = createServer({ maxHeaderSize: 128 * 1024 }, (request, response) => {
    seen.push({ url: request.url!, headers: request.headers });
    request.resume();
    const path = request.url!.split("?", 1)[0]!;
    const id = path === "/v1/messages" ? { "request-id": "req_011A" } : { "x-request-id": "req_2b" };
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/json", ...PASSED_BACK, ...id });
      response.end(JSON.stringify(ANSWERS[path]));
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

const SESSION = "01a21b65-4b3d-70a3-b483-10e9192a77e1";
const SUBAGENT = "01a21b65-4c52-7371-878d-cf51aa79b6aa";
const DEVICE = "7b891c2920697e4266c2e1bbe6fd52ef68f97c24db007c39c9e9f891616fc5d0";
const ACCOUNT = "d3b0b5a4-6b0f-4f7e-9d57-0c9a2b1f6a11";

const claudeCode = {
  "user-agent": "claude-cli/2.1.332 (external, sdk-cli)",
  "anthropic-beta": "claude-code-20250219,oauth-2025-04-20",
  "anthropic-version": "2023-06-01",
  "anthropic-dangerous-direct-browser-access": "true",
  "x-app": "cli",
  "x-stainless-retry-count": "0",
};
const codex = {
  "user-agent": "codex_exec/0.171.0 (Debian 12.0.0; x86_64)",
  "x-codex-beta-features": "remote_compaction_v2",
  "x-codex-window-id": `${SESSION}:0`,
  "x-codex-turn-metadata": JSON.stringify({ session_id: SESSION, workspaces: "x".repeat(40_000) }),
  "x-openai-internal-codex-responses-lite": "true",
  "x-client-request-id": SESSION,
  "session-id": SESSION,
  originator: "codex_exec",
  version: "0.171.0",
};
const claudeUser = (parts: object): object => ({
  metadata: { user_id: JSON.stringify({ device_id: DEVICE, ...parts, session_id: SESSION }) },
});

interface AgentCase {
  readonly name: string;
  readonly url: string;
  /** Headers that the provider needs. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers for the gateway. */
  readonly own: Readonly<Record<string, string>>;
  readonly body: object;
  readonly user: string | null;
  readonly marks: object;
}

const anthropic = { url: "/v1/messages?beta=true", headers: claudeCode } as const;
const openai = { url: "/v1/responses", headers: codex } as const;
const session = { "x-claude-code-session-id": SESSION };

const cases: readonly AgentCase[] = [
  {
    ...anthropic,
    name: "Claude Code",
    own: session,
    body: claudeUser({ account_uuid: "" }),
    user: DEVICE,
    marks: { upstream_request_id: "req_011A" },
  },
  {
    ...anthropic,
    name: "a subagent of Claude Code, signed in",
    headers: { ...claudeCode, authorization: "Bearer sk-ant-oat01-own" },
    own: { ...session, "x-claude-code-agent-id": "a6bbbff083625169f", "x-sumtree-key": ROOT_KEY },
    body: claudeUser({ account_uuid: ACCOUNT }),
    user: ACCOUNT,
    marks: { agent_id: "a6bbbff083625169f", billing: "subscription" },
  },
  {
    ...anthropic,
    name: "Claude Code of older versions",
    own: session,
    body: { metadata: { user_id: `user_${DEVICE}_account_${ACCOUNT}_session_${SESSION}` } },
    user: ACCOUNT,
    marks: {},
  },
  {
    ...openai,
    name: "Codex",
    headers: { ...codex, "thread-id": SESSION },
    own: {},
    body: {},
    user: null,
    marks: { upstream_request_id: "req_2b" },
  },
  {
    ...openai,
    name: "a subagent of Codex, signed in",
    headers: {
      ...codex,
      authorization: "Bearer header.payload.signature",
      "chatgpt-account-id": "acc-1",
      "thread-id": SUBAGENT,
      "x-codex-parent-thread-id": SESSION,
      "x-openai-subagent": "collab_spawn",
    },
    own: { "x-sumtree-key": ROOT_KEY },
    body: {},
    user: null,
    marks: { agent_id: SUBAGENT, parent_agent_id: SESSION, billing: "subscription" },
  },
  {
    ...openai,
    name: "opencode",
    headers: { "user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.46 runtime/bun/1.3.14" },
    own: { "x-session-affinity": SESSION, "x-session-id": SESSION },
    body: {},
    user: null,
    marks: {},
  },
];

interface Stored {
  readonly thread_id: string | null;
  readonly wb_user_id: string | null;
  readonly attributes: { readonly sumtree: Readonly<Record<string, unknown>> };
}

async function onlyCall(project_id: string): Promise<Stored> {
  const read = async (): Promise<readonly Stored[]> =>
    (await test.post("/calls/stream_query", { project_id })).text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Stored);
  await until(async () => (await read()).length > 0);
  const [call, ...others] = await read();
  expect(others).toEqual([]);
  return call!;
}

it.each(cases)(
  "$name is relayed with the headers of its provider and recorded with session, user and agent",
  async ({ name, url, headers, own, body, user, marks }) => {
    const project = `acme/${name.replaceAll(/\W+/g, "-")}`;
    seen = [];
    const response = await fetch(origin + url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${ROOT_KEY}`,
        "content-type": "application/json",
        "x-sumtree-project": project,
        ...headers,
        ...own,
      },
      body: JSON.stringify({ model: "m", ...body }),
    });
    expect(await response.json()).toEqual(ANSWERS[url.split("?", 1)[0]!]);
    expect(Object.fromEntries(response.headers)).toMatchObject(PASSED_BACK);
    expect(seen).toMatchObject([{ url, headers }]);
    expect(JSON.stringify(seen)).not.toContain(ROOT_KEY);

    const { thread_id, wb_user_id, attributes } = await onlyCall(project);
    expect({ thread_id, wb_user_id }).toEqual({ thread_id: SESSION, wb_user_id: user });
    expect(attributes.sumtree).toMatchObject({ usage: "exact", outcome: "finished", ...marks });
    if (!("agent_id" in marks)) expect(attributes.sumtree).not.toHaveProperty("agent_id");
  },
);

it("a rejected key is not repeated by clients that repeat a 401", async () => {
  for (const [headers, status] of [
    [{ authorization: "Bearer wrong" }, 401],
    [{ authorization: `Bearer ${await keyOf("acme/other")}`, "x-sumtree-project": "acme/agents" }, 403],
  ] as const) {
    const response = await fetch(`${origin}/v1/messages`, { method: "POST", headers, body: "{}" });
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([status, "false"]);
  }
});

async function keyOf(project: string): Promise<string> {
  const body = { name: "agent", scopes: ["gateway"], projects: [project] };
  return ((await test.post("/api-keys", body)).json() as { key: string }).key;
}
