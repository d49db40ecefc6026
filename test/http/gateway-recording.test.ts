import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { callsOf, nothingLeft, onlyCall, type RecordedCall } from "../helpers/recorded-calls.ts";
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

/** The only call of a project, with its usage. */
async function recorded(project: string, at: Pick<TestGateway, "app"> = test) {
  await nothingLeft(at);
  return onlyCall(test, project);
}

function messageOf({ output }: RecordedCall): Readonly<Record<string, unknown>> {
  return (output as { choices: { message: Record<string, unknown> }[] }).choices[0]!.message;
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

describe("a completion through the SDK", () => {
  const client = (project: string): OpenAI =>
    new OpenAI({ apiKey: ROOT_KEY, baseURL: test.baseUrl, project });

  it("is recorded with its usage, inputs and output", async () => {
    const project = newProject();
    const { data, response } = await client(project).chat.completions.create(chat).withResponse();
    const call = await recorded(project);
    expect(call).toMatchObject({
      id: response.headers.get("x-sumtree-call-id"),
      used: { [MODEL]: counted(chat) },
      inputs: chat,
      output: { id: data.id, model: MODEL, choices: [{ index: 0, finish_reason: "stop" }] },
      attributes: {
        sumtree: {
          source: "gateway",
          stream: false,
          outcome: "finished",
          usage: "exact",
          upstream: "training",
          status: 200,
          request_id: response.headers.get("x-request-id"),
        },
      },
      exception: null,
    });
    const { content } = data.choices[0]!.message;
    expect(messageOf(call)).toEqual({ role: "assistant", content });
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
    const call = await recorded(project);
    expect(call).toMatchObject({
      attributes: { sumtree: { outcome: "aborted", usage: "estimated", stream: true } },
      exception: expect.stringContaining("client disconnected"),
    });
    const [usage] = Object.values(call.used);
    const said = Buffer.byteLength(String(messageOf(call)["content"]));
    expect(said).toBeGreaterThanOrEqual(text.length);
    expect(usage).toMatchObject({
      requests: 1,
      prompt_tokens: Math.ceil(Buffer.byteLength(messages[0].content) / 4),
      completion_tokens: Math.ceil(said / 4),
    });
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

  it("does not parse a request of many megabytes, and records its completion", async () => {
    const project = newProject();
    const huge = JSON.stringify({ ...chat, messages: [{ role: "user", content: "x".repeat(6_000_000) }] });
    await post(huge, { "openai-project": project });
    expect(test.upstream.seen[0]!.bodyBytes).toBe(huge.length);
    const call = await recorded(project);
    expect([call.attributes.sumtree["usage"], call.used[MODEL]!["completion_tokens"]]).toEqual(["exact", 8]);
  });

  it("stores no content if so configured", async () => {
    const project = newProject();
    const app = await startSecondApp(test, { GATEWAY_CAPTURE_CONTENT: "false" });
    try {
      await post(JSON.stringify(chat), { "openai-project": project }, `${app.url}/v1`);
      const call = await recorded(project, app);
      expect([call.inputs, call.output, call.used]).toEqual([
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
    const call = await recorded(project);
    expect(Date.parse(call.ended_at!) - Date.parse(call.started_at)).toBeGreaterThanOrEqual(290);
    expect(call.attributes.sumtree["first_byte_ms"]).toBeGreaterThanOrEqual(290);
  });

  it("is complete after a graceful stop, with the streams it interrupted", async () => {
    const project = newProject();
    const app = await startSecondApp(test, { SHUTDOWN_TIMEOUT_MS: "3000" });
    const requests = Array.from({ length: 5 }, () =>
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
    const calls = await callsOf(test, project);
    const outcomes = calls.map(({ attributes }) => String(attributes.sumtree["outcome"]));
    expect(outcomes.toSorted((a, b) => a.localeCompare(b))).toEqual([
      "aborted",
      ...Array.from({ length: 5 }, () => "finished"),
    ]);
  });
});
