import { describe, expect, it } from "vitest";
import {
  changed,
  fixtureLogs,
  originOf,
  read,
  storedEvent,
  type SentLog,
} from "../../../../helpers/agent-logs.ts";

const AGENTS = ["claude-code", "codex", "gemini-cli", "qwen-code", "cline", "cursor", "copilot"];
/** The record of an agent whose event has this name; of several, the one with most attributes. */
function sent(agent: string, event: string): SentLog {
  const found = fixtureLogs(agent).filter(
    ([{ attributes, body }]) => (attributes.get("event.name") ?? body) === event,
  );
  return found.toSorted(([a], [b]) => b.attributes.size - a.attributes.size)[0]!;
}
const stored = (log: SentLog, keepsContent = false) => storedEvent(read(log, keepsContent));
const claude = (event = "api_request") => sent("claude-code", event);
const codex = (event = "codex.sse_event") => sent("codex", event);
const idOf = (log: SentLog) => stored(log).id;

/** Operation, model, counts (prompt, completion, cached, written) and stated cost, written down by hand from the fixtures. */
const USED = {
  "claude-code": ["api_request", "claude_code.api_request", "claude-sonnet-5", [105, 48, 90, 5], 0.0042],
  codex: ["codex.sse_event", "codex.response", "gpt-5.5-codex", [9210, 120, 8960, 0], null],
  "gemini-cli": [
    "gemini_cli.api_response",
    "gemini_cli.api_response",
    "gemini-3-pro",
    [1030, 120, 400, 0],
    null,
  ],
  "qwen-code": [
    "qwen-code.api_response",
    "qwen_code.api_response",
    "qwen3-coder-plus",
    [800, 200, 512, 0],
    null,
  ],
  cline: ["task.tokens", "cline.request", "claude-sonnet-5", [2400, 40, 2000, 100], 0.012],
  cursor: ["api_request", "cursor.request", "claude-sonnet-5", [160, 200, 50, 10], null],
  copilot: [
    "gen_ai.client.inference.operation.details",
    "gen_ai.chat",
    "gpt-5.5-2026-08",
    [500, 25, 384, 0],
    null,
  ],
} as const;

it.each(Object.entries(USED))("reads the usage of %s", (agent, [event, opName, llm, counts, cost]) => {
  const [promptTokens, completionTokens, cacheReadTokens, cacheCreationTokens] = counts;
  const totalTokens = promptTokens + completionTokens;
  const used = {
    llm,
    requests: 1,
    promptTokens,
    completionTokens,
    totalTokens,
    cacheReadTokens,
    cacheCreationTokens,
  };
  expect(stored(sent(agent, event))).toMatchObject({ op_name: opName, cost, api_key: "a-key", usage: used });
});

/** Session, prompt, user and billing. */
const SENDERS = {
  "claude-code": ["c3a1f0de-1111-4222-8333-944445555666", "p-7f2e", "ada@example.com", "api"],
  codex: ["019a9c1e-7b2d-7c33-9a10-0f5e6d7c8b9a", undefined, "bob@example.com", "subscription"],
  "gemini-cli": ["5c1f-gem", "5c1f-gem########1", "cleo@example.com", "subscription"],
  "qwen-code": ["q-55", "q-55########0", undefined, undefined],
  cline: ["01JD0CLINE", undefined, "usr-9", undefined],
  cursor: ["4dd1a0c2-conv", undefined, "99", undefined],
} as const;

it.each(Object.entries(SENDERS))(
  "all calls of %s have its session and user",
  (agent, [session, prompt, user, billing]) => {
    const calls = fixtureLogs(agent)
      .map((log) => read(log))
      .filter((event) => typeof event === "object" && event.isStart);
    expect(calls.length).toBeGreaterThan(1);
    for (const call of calls.map(storedEvent)) {
      expect([call["thread_id"], call["turn_id"], call["svc_user_id"]]).toEqual([session, prompt, user]);
      expect(call["attributes"]).toMatchObject({ sumtree: { agent } });
      // of a tool, Gemini CLI does not say how the user signed in
      if (call["usage"] !== undefined)
        expect(call["attributes"]).toMatchObject({
          sumtree: billing === undefined ? { agent } : { agent, billing },
        });
    }
  },
);

describe("Claude Code", () => {
  it.each([
    ["input_tokens", "10"],
    ["cache_read_tokens", "90"],
    ["cost_usd", "0.0042"],
  ])("reads %s as text as it reads the number", (name, text) => {
    const { attributes: _, ...call } = stored(claude());
    expect(stored(changed(claude(), { [name]: text }))).toMatchObject(call);
  });

  it.each([-5, "many", "", null, Number.NaN, true, {}])("a count of %j adds nothing", (count) => {
    const { usage } = stored(changed(claude(), { cache_read_tokens: count }));
    expect(usage).toMatchObject({ promptTokens: 15, completionTokens: 48, cacheReadTokens: 0 });
  });

  it("is known by body, event name or service, each alone", () => {
    const [record, origin] = claude();
    const elsewhere = originOf({ "service.name": "my-app" });
    const call = stored([record, origin]);
    for (const log of [
      changed([record, elsewhere], { "event.name": undefined }),
      changed([record, elsewhere], { "event.name": "claude_code.api_request" }, { body: null }),
      changed([record, origin], {}, { body: null }),
      changed(
        [record, elsewhere],
        { "event.name": undefined },
        { body: null, eventName: "claude_code.api_request" },
      ),
    ])
      expect(stored(log)).toMatchObject({ op_name: "claude_code.api_request", usage: call["usage"] });
  });

  it("identifies a request by its id, else by the client's, else by sequence and time", () => {
    const without = { request_id: undefined, client_request_id: undefined };
    expect(idOf(changed(claude(), { duration_ms: 7, "event.sequence": 70 }))).toBe(idOf(claude()));
    const byClient = changed(claude(), { request_id: undefined });
    expect(idOf(changed(byClient, { "event.sequence": 70 }))).toBe(idOf(byClient));
    const plain = changed(claude(), without);
    const again = changed(plain, { "event.sequence": 3 });
    const resumed = changed(plain, { "event.timestamp": "2026-11-21T09:15:04.250Z" });
    expect(new Set([claude(), byClient, plain, again, resumed].map(idOf))).toHaveLength(5);
    expect(idOf(changed(claude(), { request_id: "", client_request_id: "" }))).not.toBe(
      idOf(changed(claude(), { request_id: "", client_request_id: "", "event.sequence": 3 })),
    );
  });

  it("puts the calls of a prompt into one trace, other prompts and sessions into others", () => {
    const traceOf = (attributes: Readonly<Record<string, unknown>>) =>
      stored(changed(claude(), attributes))["traceId"];
    expect(stored(claude("tool_result"))["traceId"]).toBe(traceOf({}));
    const others = [{ "prompt.id": "p-2" }, { "session.id": "s-2" }, { "prompt.id": undefined }];
    expect(new Set([{}, ...others].map(traceOf))).toHaveLength(4);
    expect(stored(changed(claude(), { "session.id": undefined }))["traceId"]).toBeUndefined();
  });

  it("prefers the trace of the record, with its span as parent", () => {
    const ids = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
    expect(stored(changed(claude(), {}, ids))).toMatchObject({ traceId: ids.traceId, parent_id: ids.spanId });
    const zeros = { traceId: "0".repeat(32), spanId: "b7ad6b7169203331" };
    expect(stored(changed(claude(), {}, zeros))).toMatchObject({
      traceId: stored(claude())["traceId"],
    });
  });

  it("has no parent without a trace of its own", () => {
    expect(stored(changed(claude(), {}, { spanId: "b7ad6b7169203331" }))).not.toHaveProperty("parent_id");
  });

  it("begins a call by its duration before the event", () => {
    expect(stored(claude())).toMatchObject({
      started_at: "2026-11-20 09:15:02.500000",
      ended_at: "2026-11-20 09:15:04.250000",
    });
    const long = stored(changed(claude(), { duration_ms: 1e20 }));
    expect(long["started_at"]).toBe(long["ended_at"]);
  });

  it("keeps errors and refusals as calls without usage", () => {
    expect(stored(claude("api_error"))).toMatchObject({
      op_name: "claude_code.api_request",
      exception: "529 Overloaded",
      usage: undefined,
      reports: undefined,
    });
    expect(stored(claude("api_refusal"))).toMatchObject({ exception: "api_refusal", usage: undefined });
  });

  it.each(["subagent_completed", "compaction", "tool_result", "tool_decision", "user_prompt"])(
    "%s is a call without usage",
    (event) => {
      expect(stored(claude(event))).toMatchObject({ usage: undefined, reports: undefined });
    },
  );

  it("counts cache writes that are kept for an hour apart", () => {
    const event = changed(claude(), { cache_creation_tokens: 500, cache_creation_1h_tokens: 400 });
    expect(stored(event)).toMatchObject({
      usage: { cacheCreationTokens: 500, units: { cache_write_1h_tokens: 400 } },
    });
  });

  it("reports the request by both of its ids, and its provider's as the completion", () => {
    expect(stored(claude())).toMatchObject({
      completion_id: "req_011CVxT5qWbnPkR8uLmZaY3d",
      reports: [
        ["req_011CVxT5qWbnPkR8uLmZaY3d", 1],
        ["8e2f7a54-2c1b-4d7e-9f60-51a2b3c4d5e6", 1],
      ],
    });
  });

  it("prices fast requests as such, and a larger context window as its model", () => {
    const fast = changed(claude(), { speed: "fast", model: "claude-opus-5[1m]" });
    expect(stored(fast)["usage"]).toMatchObject({ llm: "claude-opus-5", service: { tier: "fast" } });
  });

  it("keeps team, repository and branch of the resource under their own names; the record wins", () => {
    const call = stored(changed(claude(), { "vcs.ref.head.name": "fix/1" }));
    expect(call["attributes"]).toMatchObject({
      team: { id: "pay" },
      cost_center: "42",
      vcs: { repository: { name: "acme/web" }, ref: { head: { name: "fix/1" } } },
      organization: { id: "0d9d2f6e-org" },
      terminal: { type: "vscode" },
      app: { version: "2.1.276" },
      query_source: "repl_main_thread",
      effort: "high",
    });
  });

  it.each([
    ["stated in micros", { cost_usd: undefined }, 0.0042],
    ["stated as 0", { cost_usd: 0 }, 0],
    ["negative", { cost_usd: -1, cost_usd_micros: -1 }, null],
    ["not stated", { cost_usd: undefined, cost_usd_micros: "" }, null],
  ])("a cost %s", (_, attributes, cost) => {
    expect(stored(changed(claude(), attributes))["cost"]).toBe(cost);
  });

  it("a request without counts has no usage", () => {
    const counts = { input_tokens: undefined, output_tokens: undefined };
    expect(stored(changed(claude(), counts))).toMatchObject({ usage: undefined, reports: undefined });
  });

  it("the resource's billing decides", () => {
    const [record] = claude();
    const billed = (billing: unknown) =>
      (stored([record, originOf({ billing })])["attributes"] as { sumtree: object }).sumtree;
    expect(billed("subscription")).toEqual({ agent: "claude-code", billing: "subscription" });
    expect(billed("some")).toEqual({ agent: "claude-code" });
  });

  it("names a user by email, else account, else id", () => {
    const without = { "user.email": undefined, "user.account_uuid": undefined };
    expect(stored(changed(claude(), { "user.email": "" }))["svc_user_id"]).toBe("a1b2-acc");
    expect(stored(changed(claude(), without))["svc_user_id"]).toBe("6f1c09aa");
    expect(stored(changed(claude(), { ...without, "user.id": undefined }))["svc_user_id"]).toBeUndefined();
  });
});

describe("times", () => {
  const untimed = { "event.timestamp": undefined };
  it.each([
    ["the event's", {}, {}, "2026-11-20 09:15:04.250000"],
    ["the record's", untimed, {}, "2026-11-20 09:15:04.250000"],
    [
      "the observed one",
      untimed,
      { atNanos: 0n, observedAtNanos: 1_795_166_105_000_000_000n },
      "2026-11-20 09:15:05.000000",
    ],
    [
      "the record's, if the event's is no time",
      { "event.timestamp": "soon" },
      {},
      "2026-11-20 09:15:04.250000",
    ],
  ])("%s", (_, attributes, members, time) => {
    expect(stored(changed(claude(), attributes, members))["ended_at"]).toBe(time);
  });

  it.each([
    ["no time", untimed, { atNanos: 0n, observedAtNanos: 0n }],
    ["a time out of range", untimed, { atNanos: 2n ** 64n - 1n }],
    ["an event's time out of range", { "event.timestamp": "9999-01-01T00:00:00Z" }, {}],
  ])("rejects a record with %s", (_, attributes, members) => {
    expect(read(changed(claude(), attributes, members))).toBe(
      "a log record has no time, or one out of range",
    );
  });
});

describe("Codex", () => {
  it("is recognised without body and time, by the event's name beside a place in its source", () => {
    expect(codex()[0]).toMatchObject({
      body: null,
      atNanos: 0n,
      eventName: expect.stringContaining(".rs:") as string,
    });
    expect(stored(codex())).toMatchObject({
      op_name: "codex.response",
      ended_at: "2026-11-20 09:15:04.250000",
    });
  });

  it("counts one of two records of a completion", () => {
    const completed = fixtureLogs("codex").filter(
      ([{ attributes }]) => attributes.get("event.kind") === "response.completed",
    );
    expect(completed).toHaveLength(2);
    expect(completed.map((log) => read(log)).filter(Boolean)).toHaveLength(1);
    expect(idOf(codex())).toBe(idOf(codex()));
  });

  it("has no calls of other parts of a stream, unless they failed", () => {
    const part = changed(codex(), {
      "event.kind": "response.failed",
      input_token_count: undefined,
      output_token_count: undefined,
    });
    expect(read(part)).toBeUndefined();
    expect(stored(changed(part, { "error.message": "rate limit" }))).toMatchObject({
      exception: "rate limit",
      usage: undefined,
    });
  });

  it("reports its conversation and, for spans that do not name it, its trace", () => {
    const ids = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
    expect(stored(codex())["reports"]).toEqual([["conversation:019a9c1e-7b2d-7c33-9a10-0f5e6d7c8b9a", 2]]);
    expect(stored(changed(codex(), {}, ids))["reports"]).toContainEqual([`conversation:${ids.traceId}`, 2]);
  });

  it.each([
    ["Chatgpt", "subscription"],
    ["ChatGPT", "subscription"],
    ["ApiKey", "api"],
    ["api_key", "api"],
    ["Other", undefined],
  ])("signed in by %s, billing is %s", (auth_mode, billing) => {
    const { sumtree } = stored(changed(codex(), { auth_mode }))["attributes"] as {
      sumtree: { billing?: string };
    };
    expect(sumtree.billing).toBe(billing);
  });
});

describe("Gemini CLI and Qwen Code", () => {
  const gemini = () => sent("gemini-cli", "gemini_cli.api_response");
  const twin = () => sent("gemini-cli", "gen_ai.client.inference.operation.details");
  const qwen = () => sent("qwen-code", "qwen-code.api_response");

  it("the twin of a response adds only the completion id to its call", () => {
    const event = read(twin());
    expect(event).toMatchObject({
      id: idOf(gemini()),
      isStart: false,
      columns: { completion_id: "hGkfaYSvLPuQ7dcP4b6NsAk" },
    });
    expect(Object.keys((event as { columns: object }).columns)).toEqual(["completion_id", "reports"]);
    expect(storedEvent(event)["reports"]).toEqual([["hGkfaYSvLPuQ7dcP4b6NsAk", 1]]);
    // so that the two commute
    expect(stored(gemini())).not.toHaveProperty("completion_id");
    expect(stored(gemini())["reports"]).toBeUndefined();
  });

  it("the twin of a request is ignored", () => {
    expect(read(changed(twin(), { "gen_ai.response.id": undefined }))).toBeUndefined();
  });

  it.each([
    ["excludes both", 1150, [1030, 120]],
    ["excludes thoughts", 1120, [1000, 120]],
    ["excludes tools", 1080, [1030, 50]],
    ["includes both", 1050, [1000, 50]],
    ["is unknown", 0, [1030, 120]],
    ["is another", 77, [1030, 120]],
  ])("Gemini's output, where the total %s", (_, total_token_count, [promptTokens, completionTokens]) => {
    const { usage } = stored(changed(gemini(), { total_token_count }));
    expect(usage).toMatchObject({ promptTokens, completionTokens });
  });

  it.each([
    ["includes thoughts", 1000, 200],
    ["excludes thoughts", 1060, 260],
    ["is unknown", undefined, 200],
  ])("Qwen's output, where the total %s", (_, total_token_count, completionTokens) => {
    expect(stored(changed(qwen(), { total_token_count }))["usage"]).toMatchObject({
      promptTokens: 800,
      completionTokens,
    });
  });

  it("reports Qwen's response unless its id could be another's", () => {
    expect(stored(qwen())).toMatchObject({
      completion_id: "chatcmpl-Zq81kfB7TmWc2",
      reports: [["chatcmpl-Zq81kfB7TmWc2", 1]],
    });
    expect(stored(changed(qwen(), { response_id: "chatcmpl-123" }))["reports"]).toBeUndefined();
  });

  it("keeps errors and cancelled requests", () => {
    expect(stored(sent("gemini-cli", "gemini_cli.api_error"))).toMatchObject({
      exception: "quota exceeded",
      usage: undefined,
    });
    expect(stored(sent("qwen-code", "qwen-code.api_cancel"))).toMatchObject({
      exception: "api_cancel",
      usage: undefined,
    });
  });
});

describe("Cline, Cursor, Copilot", () => {
  it("counts Cline's requests, not its turns, also with the names of older versions", () => {
    expect(stored(sent("cline", "task.conversation_turn"))["usage"]).toBeUndefined();
    const old = { tokensIn: undefined, tokensOut: undefined, tokens_in: 7, tokens_out: 3 };
    expect(stored(changed(sent("cline", "task.tokens"), old))["usage"]).toMatchObject({
      promptTokens: 7,
      completionTokens: 3,
    });
    const [first, second] = [
      sent("cline", "task.tokens"),
      changed(sent("cline", "task.tokens"), {}, { atNanos: 1_795_166_104_251_000_000n }),
    ];
    expect(idOf(first)).not.toBe(idOf(second));
  });

  it("a correction of Cursor outranks the usage that it takes off the bill", () => {
    const request = stored(sent("cursor", "api_request"));
    const correction = stored(sent("cursor", "api_correction_not_billed_errored"));
    expect(request["reports"]).toEqual([["ue-1", 1]]);
    expect(correction).toMatchObject({
      op_name: "cursor.api_correction",
      usage: undefined,
      reports: [["ue-1", 3]],
    });
    expect(correction.id).not.toBe(request.id);
    expect(correction["attributes"]).toMatchObject({
      cursor: { api: { correction: { kind: "not_billed_errored" } } },
    });
  });

  it("identifies an event of Cursor by its id", () => {
    expect(idOf(changed(sent("cursor", "api_request"), {}, { atNanos: 1_795_166_200_000_000_000n }))).toBe(
      idOf(sent("cursor", "api_request")),
    );
  });

  it("Copilot's multiplier is no cost, and the summary of a turn no usage", () => {
    expect(stored(sent("copilot", "gen_ai.client.inference.operation.details"))["cost"]).toBeNull();
    expect(stored(sent("copilot", "copilot_chat.agent.turn"))["usage"]).toBeUndefined();
  });
});

describe("content", () => {
  it.each(AGENTS)("of %s is not stored by default", (agent) => {
    for (const log of fixtureLogs(agent))
      expect(JSON.stringify(read(log)?.valueOf() ?? "")).not.toContain("secret");
  });

  it("is stored as inputs and output on request", () => {
    expect(stored(codex("codex.tool_result"), true)).toMatchObject({
      op_name: "codex.tool",
      inputs: { arguments: '{"command":["cat","secret.env"]}' },
      output: "TOKEN=secret",
    });
    expect(stored(claude("tool_result"), true)).toMatchObject({
      exception: "grep: secret.txt: no such file",
    });
    expect(stored(claude("tool_result"))).toMatchObject({
      op_name: "claude_code.tool",
      exception: "ShellError",
    });
  });
});

describe("other senders", () => {
  const elsewhere = originOf({ "service.name": "my-app" });
  it.each([
    [{ "event.name": "api_request", input_tokens: 5 }, null],
    [{ "event.name": "gen_ai.client.inference.operation.details", "gen_ai.usage.input_tokens": 5 }, null],
    [{ "event.name": "cursor.moved" }, null],
    [{}, "codex started"],
    [{}, { claude_code: true }],
  ])("ignores %j with body %j", (attributes, body) => {
    expect(read([changed(claude(), {})[0], elsewhere])).toBeTypeOf("object");
    const record = { ...claude()[0], attributes: new Map(Object.entries(attributes)), body };
    expect(read([record, elsewhere])).toBeUndefined();
  });

  it("ignores messages of a known service that name no event", () => {
    const record = { ...codex()[0], attributes: new Map(), body: "starting the server" };
    expect(read([record, codex()[1]])).toBeUndefined();
  });
});
