import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";
import { isChosen, type Environment } from "./environments.ts";
import { startPlayedProvider, type PlayedProvider, type Served } from "./played-provider.ts";
import { PROGRAMS, runPython } from "./python-program.ts";
import { totalsByHand, totalsOf } from "./totals.ts";

let provider: PlayedProvider;
let test: TestApp;
let url: string;
/** Answers that were no success, for the report of a failure. */
const refused: string[] = [];
beforeAll(async () => {
  provider = await startPlayedProvider();
  test = await startApp({
    settings: { CHAT_UPSTREAM_URL: `${provider.url}/v1`, CHAT_UPSTREAM_API_KEY: "played" },
  });
  url = await test.app.listen({ host: "127.0.0.1", port: 0 });
  test.app.server.on("request", (request, response) => {
    response.once("finish", () => {
      if (response.statusCode >= 400) refused.push(`${response.statusCode} ${request.method} ${request.url}`);
    });
  });
});
afterAll(async () => {
  await test.close();
  await provider.close();
});

type Way = "alone" | "gateway";

/** Converts served usage to the usage that a producer sends (docs/clients.md). */
type Sent = (served: Served) => Served;
const all: Sent = (served) => served;
const modelAsked: Sent = (served) => ({ ...served, model: served.model.replace("-2024-08-06", "") });
/** Google's ADK asks through LiteLLM, which puts the provider before the model. */
const modelAskedOfProvider: Sent = (served) => ({ ...served, model: `openai/${modelAsked(served).model}` });
const modelAskedInStreams: Sent = (served) => (served.streamed === true ? modelAsked(served) : served);
const noCache: Sent = (served) => ({ ...served, usage: { ...served.usage, prompt_tokens_details: {} } });
/** AutoGen asks for no usage of streams, and sends zeros. */
const noUsageOfStreams: Sent = (served) => (served.streamed === true ? { ...served, usage: {} } : served);
const isWhole = ({ streamed }: Served): boolean => streamed !== true;
const isWholeOrOfOpenAi = (served: Served): boolean => isWhole(served) || "prompt_tokens" in served.usage;
/** OpenLLMetry adds the output that Anthropic's streams begin with, one token here, to that which they end with. */
const beginningCounted: Sent = (served) => {
  const output = served.usage["output_tokens"];
  if (served.streamed !== true || typeof output !== "number") return served;
  return { ...served, usage: { ...served.usage, output_tokens: output + 1 } };
};
const and =
  (first: Sent, second: Sent): Sent =>
  (served) =>
    second(first(served));

interface Program {
  readonly file: string;
  readonly environment: Environment;
  readonly ways: readonly Way[];
  readonly sends: Sent;
  /** Default: all. */
  readonly isSent?: (served: Served) => boolean;
  /** Usage without a completion id, which is counted in addition to the gateway's record. */
  readonly untied?: (served: Served) => boolean;
}

const programs: readonly Program[] = [
  { file: "openai_gateway.py", environment: "core", ways: ["gateway"], sends: all },
  { file: "weave_ops.py", environment: "core", ways: ["alone", "gateway"], sends: all },
  { file: "weave_anthropic.py", environment: "core", ways: ["alone"], sends: all },
  { file: "weave_publishing.py", environment: "core", ways: ["alone"], sends: all },
  { file: "weave_reading.py", environment: "core", ways: ["alone"], sends: all },
  { file: "weave_server.py", environment: "core", ways: ["alone"], sends: all },
  {
    file: "openllmetry.py",
    environment: "core",
    ways: ["alone", "gateway"],
    sends: beginningCounted,
  },
  { file: "openinference_sdks.py", environment: "core", ways: ["alone", "gateway"], sends: all },
  { file: "official.py", environment: "official", ways: ["alone", "gateway"], sends: noCache },
  { file: "langsmith_chain.py", environment: "core", ways: ["alone"], sends: all },
  { file: "pydantic_ai_agent.py", environment: "core", ways: ["alone", "gateway"], sends: all },
  {
    file: "langgraph_agent.py",
    environment: "core",
    ways: ["alone", "gateway"],
    sends: modelAskedInStreams,
    untied: ({ streamed }) => streamed === true,
  },
  {
    file: "openai_agents_sdk.py",
    environment: "core",
    ways: ["alone", "gateway"],
    sends: and(modelAsked, noCache),
  },
  {
    file: "langfuse_sdk.py",
    environment: "core",
    ways: ["alone", "gateway"],
    untied: () => true,
    sends: noCache,
  },
  { file: "strands_agent.py", environment: "strands", ways: ["alone", "gateway"], sends: modelAsked },
  {
    file: "google_adk_agent.py",
    environment: "adk",
    ways: ["alone", "gateway"],
    sends: modelAskedOfProvider,
  },
  {
    file: "litellm_client.py",
    environment: "adk",
    ways: ["alone", "gateway"],
    untied: () => true,
    sends: and(modelAskedInStreams, noCache),
  },
  { file: "logfire_spans.py", environment: "more", ways: ["alone"], sends: all },
  { file: "openllmetry_gemini.py", environment: "more", ways: ["alone"], sends: all },
  { file: "botocore_bedrock.py", environment: "more", ways: ["alone"], sends: all },
  { file: "haystack_pipeline.py", environment: "frameworks", ways: ["alone"], sends: all },
  { file: "smolagents_agent.py", environment: "frameworks", ways: ["alone"], sends: all },
  {
    file: "autogen_agents.py",
    environment: "frameworks",
    ways: ["alone"],
    sends: and(noCache, noUsageOfStreams),
  },
  {
    file: "semantic_kernel_chat.py",
    environment: "frameworks",
    ways: ["alone"],
    sends: and(modelAsked, noCache),
  },
  { file: "mirascope_calls.py", environment: "frameworks", ways: ["alone"], sends: modelAsked },
  { file: "llama_index_openinference.py", environment: "frameworks", ways: ["alone"], sends: modelAsked },
  {
    file: "llama_index_own_tracing.py",
    environment: "frameworks",
    ways: ["alone"],
    sends: all,
    isSent: isWhole,
  },
  {
    file: "mlflow_autolog.py",
    environment: "mlflow",
    ways: ["alone"],
    sends: all,
    isSent: isWholeOrOfOpenAi,
  },
  { file: "crewai_crew.py", environment: "crewai", ways: ["alone", "gateway"], sends: all },
];

const cases = programs
  .filter(({ environment }) => isChosen(environment))
  .flatMap((program) => program.ways.map((way) => ({ ...program, way })));

describe.runIf(cases.length > 0)("Python packages have the usage and costs of the provider", () => {
  it.each(cases)("$file, $way", async ({ file, environment, way, sends, isSent = () => true, untied }) => {
    const project = `acme/${file.replace(".py", "")}-${way}`;
    const ended = await runProgram(environment, file, way, project);
    const served = provider.takeServed();
    expect(ended.exitCode, [ended.output, ...refused].join("\n")).toBe(0);
    expect(served.length).toBeGreaterThan(0);
    const expected = await totalsByHand(
      test,
      `${project}-by-hand`,
      way === "alone"
        ? served.filter(isSent).map(sends)
        : [...served, ...served.filter((one) => untied?.(one)).map(sends)],
    );
    let told: object = {};
    await until(async () => {
      told = await totalsOf(test, project);
      return JSON.stringify(told) === JSON.stringify(expected);
    }, 30_000).catch(() => undefined);
    expect(told, ended.output.slice(-2000)).toEqual(expected);
  });
});

async function runProgram(environment: Environment, file: string, way: Way, project: string) {
  const throughGateway = way === "gateway";
  return runPython(environment, [join(PROGRAMS, file)], {
    WAY: way,
    PROJECT: project,
    SUMTREE_URL: url,
    SUMTREE_KEY: ROOT_KEY,
    WANDB_API_KEY: ROOT_KEY,
    WF_TRACE_SERVER_URL: url,
    WANDB_BASE_URL: url,
    OPENAI_BASE_URL: throughGateway ? `${url}/v1` : `${provider.url}/v1`,
    OPENAI_API_KEY: throughGateway ? ROOT_KEY : "played",
    ...(throughGateway ? { OPENAI_PROJECT: project } : {}),
    ANTHROPIC_BASE_URL: provider.url,
    PROVIDER_URL: provider.url,
  });
}
