import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import OpenAI from "openai";
import OpenAI4 from "openai4";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { param, sql } from "../../src/query/sql.ts";
import { usageOf, type ChatBody } from "../helpers/reference-upstream/chat.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import { bearer, startGateway, startSecondApp, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway({ upstream: { usageByDefault: false } });
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

let projects = 0;
/** A project of its own for every test. */
function newProject(): string {
  return `acme/recording-${projects++}`;
}

const messages = [
  { role: "user", content: "What did every call of this trace really use, and what did it cost?" },
] as const;
const chat = { model: "forest-1", messages: [...messages] };
const MODEL = "forest-1-2026-11-01";

interface Recorded {
  readonly id: string;
  readonly trace_id: string;
  readonly parent_id: string;
  readonly usage: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly output: {
    readonly choices: readonly { readonly message: Readonly<Record<string, unknown>> }[];
  } | null;
  readonly marks: Readonly<Record<string, unknown>>;
  readonly summary: { readonly usage: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
  readonly exception: string;
  readonly ms: number;
}

/** The calls of a project, once `count` are recorded: usage as `/trace/usage` tells it, the rest as it is stored. */
async function recorded(project: string, count = 1): Promise<Recorded[]> {
  const usage = async () =>
    (await test.post("/trace/usage", { project_id: project })).json() as {
      call_usage: Record<string, Recorded["usage"]>;
    };
  await until(async () => Object.keys((await usage()).call_usage).length >= count);
  const { call_usage: usageById } = await usage();
  const rows = await storedCalls(project);
  return rows.map((row) => ({ ...row, usage: usageById[row.id]! }));
}

async function storedCalls(project: string): Promise<Omit<Recorded, "usage">[]> {
  const rows = await test.engine.rows<Record<string, string>>(
    sql`SELECT id, trace_id, parent_id, inputs, output, attributes, summary, exception,
               toString(dateDiff('millisecond', started_at, ended_at)) AS ms
        FROM calls FINAL WHERE project_id = ${param("String", project)} ORDER BY started_at, id`,
    { name: "test" },
  );
  return rows.map((row) => ({
    id: row["id"]!,
    trace_id: row["trace_id"]!,
    parent_id: row["parent_id"]!,
    inputs: JSON.parse(row["inputs"]!) as Recorded["inputs"],
    output: JSON.parse(row["output"]!) as Recorded["output"],
    marks: (JSON.parse(row["attributes"]!) as { sumtree: Recorded["marks"] }).sumtree,
    summary: JSON.parse(row["summary"]!) as Recorded["summary"],
    exception: row["exception"]!,
    ms: Number(row["ms"]),
  }));
}

/** Returns the expected usage of a completion in `/trace/usage`, from the upstream's own count. */
function counted(body: ChatBody) {
  const usage = usageOf(body);
  return expect.objectContaining({
    requests: 1,
    prompt_tokens: usage.prompt_tokens,
    completion_tokens: usage.completion_tokens,
    total_tokens: usage.total_tokens,
    cache_read_input_tokens: usage.prompt_tokens_details.cached_tokens,
  });
}

const sdks = [
  ["openai 7", OpenAI],
  ["openai 4", OpenAI4 as unknown as typeof OpenAI],
] as const;

describe.each(sdks)("a completion through %s", (_name, Sdk) => {
  const client = (project: string): OpenAI => new Sdk({ apiKey: ROOT_KEY, baseURL: test.baseUrl, project });

  it("is recorded with its usage, inputs and output", async () => {
    const project = newProject();
    const { data, response } = await client(project).chat.completions.create(chat).withResponse();
    const [call] = await recorded(project);
    expect(call).toMatchObject({
      id: response.headers.get("x-sumtree-call-id"),
      usage: { [MODEL]: counted(chat) },
      inputs: chat,
      output: { id: data.id, model: MODEL, choices: [{ index: 0, finish_reason: "stop" }] },
      marks: {
        source: "gateway",
        stream: false,
        outcome: "finished",
        usage: "exact",
        upstream: "training",
        status: 200,
        request_id: response.headers.get("x-request-id"),
      },
      exception: "",
    });
    expect(call!.output!.choices[0]!.message).toEqual({
      role: "assistant",
      content: data.choices[0]!.message.content,
    });
  });

  it("that is streamed without include_usage is counted exactly, and the client sees no usage", async () => {
    const project = newProject();
    const stream = await client(project).chat.completions.create({ ...chat, stream: true });
    let text = "";
    for await (const chunk of stream) {
      expect(chunk.choices).toHaveLength(1);
      text += chunk.choices[0]!.delta.content ?? "";
    }
    const [call] = await recorded(project);
    expect(call).toMatchObject({
      usage: { [MODEL]: counted(chat) },
      inputs: { ...chat, stream: true },
      output: { choices: [{ message: { role: "assistant", content: text } }] },
      marks: { stream: true, outcome: "finished", usage: "exact" },
    });
    expect(call!.inputs).not.toHaveProperty("stream_options");
  });

  it("that is streamed with include_usage shows its usage to the client too", async () => {
    const project = newProject();
    const stream = await client(project).chat.completions.create({
      ...chat,
      stream: true,
      stream_options: { include_usage: true },
    });
    let last;
    for await (const chunk of stream) last = chunk;
    expect(last).toMatchObject({ choices: [], usage: usageOf(chat) });
    expect((await recorded(project))[0]).toMatchObject({
      usage: { [MODEL]: counted(chat) },
      marks: { usage: "exact" },
    });
  });

  it("that the client aborts is recorded with an estimate of the received part", async () => {
    const project = newProject();
    const asked = { ...chat, max_tokens: 500, vllm_xargs: { delay_ms: 10 }, stream: true as const };
    const stream = await client(project).chat.completions.create(asked);
    let text = "";
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      if (text.length > 60) break;
    }
    const [call] = await recorded(project);
    expect(call).toMatchObject({
      marks: { outcome: "aborted", usage: "estimated", stream: true },
      exception: expect.stringContaining("client disconnected"),
    });
    const usage = Object.values(call!.usage)[0]!;
    const said = Buffer.byteLength(String(call!.output!.choices[0]!.message["content"]));
    expect(said).toBeGreaterThanOrEqual(text.length);
    expect(usage).toMatchObject({
      requests: 1,
      prompt_tokens: Math.ceil(Buffer.byteLength(messages[0].content) / 4),
      completion_tokens: Math.ceil(said / 4),
    });
  });

  it("is stored in the trace that its headers name", async () => {
    const project = newProject();
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` };
    await client(project).chat.completions.create(chat, { headers });
    const own = { "x-sumtree-trace-id": "trace-1", "x-sumtree-parent-id": "agent-1" };
    await client(project).chat.completions.create(chat, { headers: own });
    expect(await recorded(project, 2)).toMatchObject([
      { trace_id: trace, parent_id: "00f067aa0ba902b7" },
      { trace_id: "trace-1", parent_id: "agent-1" },
    ]);
  });
});

async function post(
  body: string,
  headers: Readonly<Record<string, string>>,
  base = test.baseUrl,
): Promise<string> {
  const response = await fetch(`${base}/chat/completions`, {
    method: "POST",
    headers: { ...bearer, "content-type": "application/json", ...headers },
    body,
  });
  return response.text();
}

describe("recording", () => {
  it("requires a project: without one, or with an invalid name, the completion passes with a warning", async () => {
    const counts = async (): Promise<string[]> => {
      const metrics = (await test.app.inject({ url: "/metrics", headers: bearer })).payload;
      return metrics.split("\n").filter((line) => line.startsWith("sumtree_gateway_unrecorded_total{"));
    };
    const requests = [
      [{}, "no_project"],
      [{ "openai-project": "proj_abc123" }, "not_a_project"],
      [{ "openai-project": "proj_abc123" }, "not_a_project"],
    ] as const;
    for (const [headers, reason] of requests) {
      const response = await fetch(`${test.baseUrl}/chat/completions`, {
        method: "POST",
        headers: { ...bearer, ...headers },
        body: JSON.stringify(chat),
      });
      expect([response.status, response.headers.get("x-sumtree-call-id")]).toEqual([200, null]);
      expect(response.headers.get("x-sumtree-recorded")).toBe(`no; reason=${reason}`);
    }
    expect(await counts()).toEqual([
      'sumtree_gateway_unrecorded_total{reason="no_project"} 1',
      'sumtree_gateway_unrecorded_total{reason="not_a_project"} 2',
    ]);
    expect(test.upstream.seen[1]!.headers["openai-project"]).toBe("proj_abc123");
  });

  it("reads the project also from our own header, which the upstream does not receive", async () => {
    const project = newProject();
    await post(JSON.stringify(chat), { "x-sumtree-project": project, "openai-project": "proj_1" });
    expect((await recorded(project))[0]!.usage).toEqual({ [MODEL]: counted(chat) });
    expect(test.upstream.seen[0]!.headers).toMatchObject({ "openai-project": "proj_1" });
    expect(test.upstream.seen[0]!.headers).not.toHaveProperty("x-sumtree-project");
  });

  it("uses the running count of an interrupted stream, marked as partial", async () => {
    const project = newProject();
    test.upstream.fail({ kind: "cut", afterEvents: 4, how: "clean" });
    const stream_options = { include_usage: true, continuous_usage_stats: true };
    await post(JSON.stringify({ ...chat, stream: true, stream_options }), {
      "openai-project": project,
    }).catch(() => "");
    const [call] = await recorded(project);
    expect([call!.marks["usage"], call!.usage[MODEL]!["completion_tokens"]]).toEqual(["partial", 3]);
  });

  it("finds the usage of a response that is too large to capture", async () => {
    const project = newProject();
    const filler = JSON.stringify("x".repeat(3_000_000));
    const body = `{"choices":[{"message":{"content":${filler}}}],"usage":{"prompt_tokens":7,"completion_tokens":9,"total_tokens":16,"prompt_tokens_details":{"cached_tokens":3}}}`;
    test.upstream.fail({ kind: "answer", status: 200, body });
    expect(await post(JSON.stringify(chat), { "openai-project": project })).toBe(body);
    const [call] = await recorded(project);
    expect([call!.marks["usage"], call!.usage["forest-1"]]).toMatchObject([
      "exact",
      { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16, cache_read_input_tokens: 3 },
    ]);
  });

  it("drops content above the limit, but not its usage", async () => {
    const project = newProject();
    const large = { ...chat, messages: [{ role: "user", content: "word ".repeat(500_000) }] };
    await post(JSON.stringify(large), { "openai-project": project });
    const [call] = await recorded(project);
    expect([call!.inputs, call!.usage]).toEqual([{ model: "forest-1" }, { [MODEL]: counted(large) }]);
  });

  it("does not parse a request of many megabytes, and records its completion", async () => {
    const project = newProject();
    const huge = JSON.stringify({ ...chat, messages: [{ role: "user", content: "x".repeat(6_000_000) }] });
    await post(huge, { "openai-project": project });
    expect(test.upstream.seen[0]!.bodyBytes).toBe(huge.length);
    const [call] = await recorded(project);
    expect([call!.marks["usage"], call!.usage[MODEL]!["completion_tokens"]]).toEqual(["exact", 8]);
  });

  it("stores no content if so configured", async () => {
    const project = newProject();
    const app = await startSecondApp(test, { GATEWAY_CAPTURE_CONTENT: "false" });
    try {
      await post(JSON.stringify(chat), { "openai-project": project }, `${app.url}/v1`);
      const [call] = await recorded(project);
      expect([call!.inputs, call!.output, call!.usage]).toEqual([
        { model: "forest-1" },
        { id: expect.stringMatching(/^chatcmpl-/), model: MODEL },
        { [MODEL]: counted(chat) },
      ]);
    } finally {
      await app.close();
    }
  });

  it("measures the duration of a completion", async () => {
    const project = newProject();
    test.upstream.fail({ kind: "silence", ms: 300 });
    await post(JSON.stringify(chat), { "openai-project": project });
    const [call] = await recorded(project);
    expect(call!.ms).toBeGreaterThanOrEqual(290);
    expect(call!.marks["first_byte_ms"]).toBeGreaterThanOrEqual(290);
  });

  it("is complete after a graceful stop, with the streams it interrupted", async () => {
    const project = newProject();
    const app = await startSecondApp(test, { SHUTDOWN_TIMEOUT_MS: "3000" });
    const requests = Array.from({ length: 20 }, () =>
      post(JSON.stringify(chat), { "openai-project": project }, `${app.url}/v1`),
    );
    await Promise.all(requests);
    const sent = httpRequest(`${app.url}/v1/chat/completions`, {
      method: "POST",
      headers: { ...bearer, "openai-project": project },
    });
    sent.end(JSON.stringify({ ...chat, stream: true, max_tokens: 5000, vllm_xargs: { delay_ms: 10 } }));
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    let said = "";
    response.on("data", (part: Buffer) => (said += part.toString()));
    response.on("error", () => undefined);
    await until(() => said.includes("call"));

    await app.close();
    expect(said).toMatch(/data: \{"error":\{"message":"The gateway is stopping\.".*\}\n\n$/);
    expect(response.complete).toBe(false);
    const calls = await storedCalls(project);
    expect(calls.map((call) => String(call.marks["outcome"])).toSorted((a, b) => a.localeCompare(b))).toEqual(
      ["aborted", ...Array.from({ length: 20 }, () => "finished")],
    );
  });
});
