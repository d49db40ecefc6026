import { context, trace, type Span } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runProgram } from "../helpers/client-program.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";
import { startGateway, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
let url = "";
beforeAll(async () => {
  test = await startGateway();
  url = `http://127.0.0.1:${test.port}`;
});
afterAll(() => test.close());

type Usage = Record<string, Record<string, number | null>>;

async function usageOf(project_id: string, id: string): Promise<Usage> {
  const question = { project_id, call_ids: [id], include_costs: true };
  return (await test.post("/calls/usage", question)).json().call_usage[id];
}

const callCount = async (project_id: string) =>
  (await test.post("/calls/query_stats", { project_id })).json().count as number;

function newTracer(project: string) {
  const exporter = new OTLPTraceExporter({
    url: `${url}/otel/v1/traces`,
    headers: { Authorization: authorization() },
  });
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ "sumtree.project": project }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer("test");
  return {
    start: (name: string, parent: Span | undefined, attributes: Record<string, string | number> = {}) =>
      tracer.startSpan(
        name,
        { attributes },
        parent === undefined ? context.active() : trace.setSpan(context.active(), parent),
      ),
    shutdown: () => provider.shutdown(),
  };
}

interface Completion {
  readonly model: string;
  readonly usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

/** An agent's step asks the gateway, streamed and not; agent and step are spans. */
async function throughTheGateway(project: string): Promise<{ root: string; completions: Completion[] }> {
  const tracer = newTracer(project);
  const agent = tracer.start("agent", undefined);
  const step = tracer.start("step", agent);
  const { traceId, spanId } = step.spanContext();
  const client = new OpenAI({
    apiKey: ROOT_KEY,
    baseURL: test.baseUrl,
    project,
    defaultHeaders: { traceparent: `00-${traceId}-${spanId}-01` },
  });
  const completions: Completion[] = [];
  for (const [model, content] of [
    ["forest-1", "How many tokens did this use?"],
    ["forest-2", "And this?"],
  ] as const) {
    const messages = [{ role: "user" as const, content }];
    const { model: answered, usage } = await client.chat.completions.create({ model, messages });
    completions.push({ model: answered, usage: usage! });
  }
  const stream = await client.chat.completions.create({
    model: "forest-1",
    messages: [{ role: "user", content: "One word at a time, please." }],
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const { model, usage } of stream) if (usage != null) completions.push({ model, usage });
  step.end();
  agent.end();
  await tracer.shutdown();
  await until(async () => (await callCount(project)) === 5);
  return { root: agent.spanContext().spanId, completions };
}

/** The same as spans, the agent repeating the sum under the name of the model it asked for. */
async function throughOtlp(project: string, completions: readonly Completion[]): Promise<string> {
  const tracer = newTracer(project);
  const sum = (count: "prompt_tokens" | "completion_tokens") =>
    completions.reduce((total, { usage }) => total + usage[count], 0);
  const agent = tracer.start("invoke_agent", undefined, {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.request.model": "forest-1",
    "gen_ai.usage.input_tokens": sum("prompt_tokens"),
    "gen_ai.usage.output_tokens": sum("completion_tokens"),
  });
  const step = tracer.start("step", agent);
  for (const { model, usage } of completions) {
    const attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.response.model": model,
      "gen_ai.usage.input_tokens": usage.prompt_tokens,
      "gen_ai.usage.output_tokens": usage.completion_tokens,
    };
    tracer.start("chat", step, attributes).end();
  }
  step.end();
  agent.end();
  await tracer.shutdown();
  return agent.spanContext().spanId;
}

async function throughWeave(project: string, completions: readonly Completion[]): Promise<string> {
  const { exitCode, output, result } = await runProgram("weave-same-trace.ts", {
    WANDB_API_KEY: ROOT_KEY,
    WF_TRACE_SERVER_URL: url,
    PROJECT: project,
    COMPLETIONS: JSON.stringify(completions),
  });
  expect(exitCode, output).toBe(0);
  return result.id;
}

it("a trace has the same totals through the gateway, OpenTelemetry and the Weave SDK", async () => {
  for (const model of ["forest-1", "forest-2"]) {
    const costs = { [`${model}-2026-11-01`]: { prompt_token_cost: 0.001, completion_token_cost: 0.003 } };
    for (const project of ["same/gateway", "same/otlp", "same/weave"]) {
      const response = await test.post("/cost/create", { project_id: project, costs: withDate(costs) });
      expect(response.status).toBe(200);
    }
  }
  const { root, completions } = await throughTheGateway("same/gateway");
  const gateway = await usageOf("same/gateway", root);
  expect(Object.values(gateway).reduce((sum, usage) => sum + usage["requests"]!, 0)).toBe(3);
  for (const [llm, usage] of Object.entries(gateway)) {
    const own = completions.filter((completion) => completion.model === llm);
    expect(usage).toMatchObject({
      requests: own.length,
      prompt_tokens: own.reduce((sum, one) => sum + one.usage.prompt_tokens, 0),
      completion_tokens: own.reduce((sum, one) => sum + one.usage.completion_tokens, 0),
      prompt_tokens_total_cost: expect.any(Number),
    });
  }
  expect(await usageOf("same/otlp", await throughOtlp("same/otlp", completions))).toEqual(gateway);
  expect(await usageOf("same/weave", await throughWeave("same/weave", completions))).toEqual(gateway);
});

function withDate(costs: Record<string, object>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(costs).map(([llm, cost]) => [llm, { ...cost, effective_date: "2020-01-01T00:00:00Z" }]),
  );
}
