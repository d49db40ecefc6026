/**
 * A user's program with an instrumented client, whose requests carry the trace. Prints what the provider said it used, by model.
 * Environment: CLIENT (one of `CLIENTS`), BASE_URL, API_KEY, PROJECT, OTLP_URL, OTLP_KEY.
 */
import { createRequire } from "node:module";
import { createOpenAI } from "@ai-sdk/openai";
import { metrics, trace, type MeterProvider, type TracerProvider } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { generateText, streamText, type LanguageModelUsage } from "ai6";
import type * as openai from "openai6";
import { tell } from "./tell.ts";

type Served = Record<string, object>[];

const { CLIENT, BASE_URL, API_KEY, PROJECT, OTLP_URL, OTLP_KEY } = process.env as Record<string, string>;
const require = createRequire(import.meta.url);
const connection = { baseURL: BASE_URL!, apiKey: API_KEY!, project: PROJECT! };
const QUESTION = "How many tokens did this question use, with all of its words in many places?";
const messages = [{ role: "user" as const, content: QUESTION }];

const exporter = new OTLPTraceExporter({
  url: OTLP_URL!,
  headers: { Authorization: `Bearer ${OTLP_KEY}` },
});
const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({ "sumtree.project": PROJECT }),
  spanProcessors: [new SimpleSpanProcessor(exporter)],
});
provider.register();
const requests = new UndiciInstrumentation({ ignoreRequestHook: ({ path }) => path.includes("/v1/traces") });
requests.setTracerProvider(provider);

/** Two completions, one of them streamed. */
async function askOpenAi(client: openai.OpenAI): Promise<Served> {
  const whole = await client.chat.completions.create({ model: "forest-1", messages });
  const served: Served = [{ [whole.model]: whole.usage! }];
  const stream = await client.chat.completions.create({
    model: "forest-2",
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const { model, usage } of stream) if (usage != null) served.push({ [model]: usage });
  return served;
}

interface Instrumentation {
  setTracerProvider(given: TracerProvider): void;
  setMeterProvider(given: MeterProvider): void;
  manuallyInstrument?(module: unknown): void;
  /** Patch function of a module, here loaded under another name. */
  init(): { patch(module: unknown, version: string): unknown }[];
}

interface InstrumentingPackage {
  readonly OpenAIInstrumentation: new () => Instrumentation;
}

function instrumentedBy({ OpenAIInstrumentation }: InstrumentingPackage): openai.OpenAI {
  const instrumentation = new OpenAIInstrumentation();
  instrumentation.setTracerProvider(provider);
  instrumentation.setMeterProvider(metrics.getMeterProvider());
  const module = require("openai6") as typeof openai;
  if (instrumentation.manuallyInstrument === undefined) instrumentation.init()[0]!.patch(module, "6.49.0");
  else instrumentation.manuallyInstrument(module.OpenAI);
  return new module.OpenAI(connection);
}

/** The AI SDK, a whole completion and a streamed one. What it was served it says in words of its own. */
async function askAiSdk(): Promise<Served> {
  const models = createOpenAI(connection);
  const experimental_telemetry = { isEnabled: true };
  const { response, usage } = await generateText({
    model: models.chat("forest-1"),
    messages,
    experimental_telemetry,
  });
  const stream = streamText({ model: models.chat("forest-2"), messages, experimental_telemetry });
  await stream.consumeStream();
  const [streamed, streamedUsage] = [await stream.response, await stream.usage];
  return [{ [response.modelId]: openAiWords(usage) }, { [streamed.modelId]: openAiWords(streamedUsage) }];
}

function openAiWords({
  inputTokens,
  outputTokens,
  totalTokens,
  inputTokenDetails,
}: LanguageModelUsage): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: totalTokens,
    prompt_tokens_details: { cached_tokens: inputTokenDetails.cacheReadTokens },
  };
}

const openTelemetry = () => require("@opentelemetry/instrumentation-openai") as InstrumentingPackage;
const openLlmetry = () => require("@traceloop/instrumentation-openai") as InstrumentingPackage;

const CLIENTS: Readonly<Record<string, () => Promise<Served>>> = {
  "ai-sdk": askAiSdk,
  opentelemetry: () => askOpenAi(instrumentedBy(openTelemetry())),
  openllmetry: () => askOpenAi(instrumentedBy(openLlmetry())),
  // both on one client, so that spans of completions stand in each other
  stacked: () => {
    instrumentedBy(openTelemetry());
    return askOpenAi(instrumentedBy(openLlmetry()));
  },
};

const ask = CLIENTS[CLIENT!]!;
const served = await trace.getTracer("app").startActiveSpan("agent", async (span) => {
  try {
    return await ask();
  } finally {
    span.end();
  }
});
await provider.shutdown();
tell({ served });
