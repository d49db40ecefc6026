import { context, SpanStatusCode, trace, type Span } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtoExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from "@opentelemetry/sdk-trace-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { faultyEngine } from "../helpers/faulty-engine.ts";
import { count503 } from "../helpers/rejections.ts";
import { authorization, ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

let test: TestApp;
let storeIsAway = false;
let url = "";
beforeAll(async () => {
  test = await startApp({
    wrapEngine: (engine) => faultyEngine(engine, () => (storeIsAway ? "refused" : "done")),
  });
  url = await test.app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => test.close());

const project_id = "acme/exporters";

interface Settings {
  readonly headers: Record<string, string>;
  readonly compression?: unknown;
  readonly timeoutMillis?: number;
}

const EXPORTERS = {
  proto: (settings: Settings) => new ProtoExporter({ url: `${url}/otel/v1/traces`, ...settings } as never),
  "proto with gzip": (settings: Settings) =>
    new ProtoExporter({ url: `${url}/agents/otel/v1/traces`, compression: "gzip", ...settings } as never),
  json: (settings: Settings) => new JsonExporter({ url: `${url}/otel/v1/traces`, ...settings } as never),
  "json with gzip": (settings: Settings) =>
    new JsonExporter({ url: `${url}/otel/v1/traces`, compression: "gzip", ...settings } as never),
};

/** An agent that asks two models, one of them inside a tool; ids of its spans by name. */
function runAgent(exporter: SpanExporter): { provider: NodeTracerProvider; spans: Record<string, Span> } {
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ "wandb.entity": "acme", "wandb.project": "exporters" }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer("agent", "1.0.0");
  const spans: Record<string, Span> = {};
  const start = (
    name: string,
    parent: Span | undefined,
    attributes: Record<string, string | number>,
  ): Span => {
    const within = parent === undefined ? context.active() : trace.setSpan(context.active(), parent);
    return (spans[name] = tracer.startSpan(name, { attributes }, within));
  };
  const chat = (name: string, parent: Span, input: number, output: number): void =>
    start(name, parent, {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "gpt-4o",
      "gen_ai.response.model": "gpt-4o-2024-08-06",
      "gen_ai.usage.input_tokens": input,
      "gen_ai.usage.output_tokens": output,
    }).end();

  const agent = start("invoke_agent trip", undefined, {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.usage.input_tokens": 30,
    "gen_ai.usage.output_tokens": 12,
    "gen_ai.conversation.id": "thread-1",
    "user.id": "user-1",
  });
  chat("first", agent, 10, 5);
  const tool = start("execute_tool search", agent, { "gen_ai.operation.name": "execute_tool" });
  chat("inner", tool, 20, 7);
  tool.setStatus({ code: SpanStatusCode.ERROR, message: "no results" });
  tool.end();
  agent.end();
  return { provider, spans };
}

async function totals(traceId: string): Promise<Record<string, Record<string, Record<string, number>>>> {
  const response = await test.post("/trace/usage", { project_id, filter: { trace_ids: [traceId] } });
  return response.json().call_usage;
}

const headers = () => ({ Authorization: authorization() });
const idOf = (span: Span | undefined) => span!.spanContext().spanId;

it.each(Object.entries(EXPORTERS))(
  "the %s exporter delivers correct usage at every level",
  async (name, exporter) => {
    const sent = name === "proto" ? { "wandb-api-key": ROOT_KEY } : headers();
    const { provider, spans } = runAgent(exporter({ headers: sent }));
    await provider.shutdown();
    const usage = (requests: number, prompt_tokens: number, completion_tokens: number) => {
      const total_tokens = prompt_tokens + completion_tokens;
      const counts = { requests, prompt_tokens, completion_tokens, total_tokens };
      return { "gpt-4o-2024-08-06": expect.objectContaining(counts) as object };
    };
    expect(await totals(spans["first"]!.spanContext().traceId)).toEqual({
      [idOf(spans["invoke_agent trip"])]: usage(2, 30, 12),
      [idOf(spans["first"])]: usage(1, 10, 5),
      [idOf(spans["execute_tool search"])]: usage(1, 20, 7),
      [idOf(spans["inner"])]: usage(1, 20, 7),
    });
  },
);

describe("an exporter", () => {
  it("can be configured by its environment only", async () => {
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/otel`,
      OTEL_EXPORTER_OTLP_HEADERS: `wandb-api-key=${ROOT_KEY},x-project-id=acme/exporters`,
    };
    Object.assign(process.env, environment);
    const { provider, spans } = runAgent(new ProtoExporter());
    for (const name of Object.keys(environment)) delete process.env[name];
    await provider.shutdown();
    expect(Object.keys(await totals(spans["first"]!.spanContext().traceId))).toHaveLength(4);
  });

  it("loses nothing if the store is unavailable during exports, and retries", async () => {
    const before = await count503(test.app);
    storeIsAway = true;
    const { provider, spans } = runAgent(EXPORTERS.proto({ headers: headers(), timeoutMillis: 60_000 }));
    const delivered = provider.shutdown();
    await until(async () => (await count503(test.app)) > before);
    storeIsAway = false;
    await delivered;
    const usage = await totals(spans["first"]!.spanContext().traceId);
    expect(usage[idOf(spans["invoke_agent trip"])]!["gpt-4o-2024-08-06"]!["prompt_tokens"]).toBe(30);
  });
});
