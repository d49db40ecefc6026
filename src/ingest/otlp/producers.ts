import type { Inclusive } from "../../calls/events/message-columns.ts";
import { textOf, type Attributes } from "./attributes.ts";
import { modelOfGeneration } from "./generations.ts";
import { responseInMembers, responseInPythonText, type FoundResponse } from "./responses.ts";

/** The facts that identify a span's producer. */
export interface SpanOfProducer {
  readonly name: string;
  readonly scopeName: string;
  readonly scopeVersion: string;
  readonly attributes: Attributes;
}

/** Producer profile. Omitted members follow the OpenTelemetry conventions. */
export interface Profile {
  /** As in docs/clients.md, which has the same table. */
  readonly producer: string;
  readonly scope: RegExp;
  /** Scope versions of this profile, if they differ. */
  readonly version?: RegExp;
  /** Span names of this profile, if its scope name is not unique. */
  readonly spans?: RegExp;
  /** Spans whose input tokens exclude cached ones, against the conventions. */
  readonly excludesCache?: SpanSubset;
  /** Spans whose output tokens exclude reasoning, which only the total includes. */
  readonly reasoningInTotal?: SpanSubset;
  /** Spans whose usage excludes that of their descendants. All others include it. */
  readonly excludesDescendants?: SpanSubset;
  /** Spans that call no model, besides `NO_REQUESTS`: they report the usage of other spans. */
  readonly callsNoModel?: SpanSubset;
  /** Spans without usage of their own: another span tells the same, with its model. */
  readonly repeats?: SpanSubset;
  /** Attributes with the provider's own usage as JSON, which is more exact than the span's counts. */
  readonly raw?: readonly string[];
  /** Attribute with the provider's response, if neither the output nor a common attribute. */
  readonly response?: {
    readonly in: string;
    readonly read: (attributes: Attributes) => FoundResponse | undefined;
  };
  /** Attributes that only this producer uses, mapped to those of the conventions. */
  readonly names?: Readonly<Record<string, string>>;
  /** Attribute with the response model, if not one of `MODEL`. */
  readonly model?: { readonly in: string; readonly read: (attributes: Attributes) => string | undefined };
  /** Attributes with the session and the user, besides those of `THREAD` and `USER`. */
  readonly session?: readonly string[];
  readonly user?: readonly string[];
}

/** A subset of a producer's spans: a description for docs/clients.md, and its predicate. */
interface SpanSubset {
  readonly which: string;
  readonly is: (attributes: Attributes) => boolean;
}

const ALWAYS: SpanSubset = { which: "all", is: () => true };
const textIn = (attributes: Attributes, key: string): string => textOf(attributes.get(key)) ?? "";

const isModelRun = (attributes: Attributes): boolean =>
  ["", "llm"].includes(textIn(attributes, "langsmith.span.kind"));

/** True for an AI SDK operation that is one model request. */
function callsModel(attributes: Attributes): boolean {
  return /\.do(?:Generate|Stream|Embed)$/.test(textIn(attributes, "ai.operationId"));
}

/** Reads the model name from Mirascope's form with provider and API: `openai/gpt-4o:completions`. */
function modelOfMirascope(attributes: Attributes): string | undefined {
  const named = attributes.get("mirascope.response.model_id") ?? attributes.get("gen_ai.response.model");
  return textOf(named)?.replace(/^[a-z-]+\/(.+?)(?::(?:completions|responses))?$/, "$1");
}

/** Producer profiles; the first match wins. */
export const PROFILES: readonly Profile[] = [
  {
    producer: "Claude Code, Agent SDK",
    scope: /(?:)/,
    spans: /^claude_code\./,
    // its own names exclude cached tokens; from 2.1.300 on it sends those of the conventions too
    excludesCache: {
      which: "without `gen_ai.usage.input_tokens`",
      is: (attributes) => !attributes.has("gen_ai.usage.input_tokens"),
    },
    names: {
      input_tokens: "gen_ai.usage.input_tokens",
      output_tokens: "gen_ai.usage.output_tokens",
      cache_read_tokens: "gen_ai.usage.cache_read.input_tokens",
      cache_creation_tokens: "gen_ai.usage.cache_creation.input_tokens",
      model: "gen_ai.request.model",
    },
  },
  {
    // the span of a turn sums those of its responses. Source: openai/codex, core/src/tasks and otel/src/events
    producer: "Codex",
    scope: /(?:)/,
    spans: /^(?:session_task\.\w+|handle_responses)$/,
    callsNoModel: {
      which: "with `codex.turn.token_usage`",
      is: (attributes) => attributes.has("codex.turn.token_usage.input_tokens"),
    },
    repeats: {
      which: "`handle_responses` without a model",
      is: (attributes) =>
        !attributes.has("codex.turn.token_usage.input_tokens") &&
        !["model", "gen_ai.request.model", "gen_ai.response.model"].some((name) => attributes.has(name)),
    },
    names: {
      "codex.turn.token_usage.input_tokens": "gen_ai.usage.input_tokens",
      "codex.turn.token_usage.output_tokens": "gen_ai.usage.output_tokens",
      "codex.turn.token_usage.cached_input_tokens": "gen_ai.usage.cache_read.input_tokens",
      "codex.turn.token_usage.cache_write_input_tokens": "gen_ai.usage.cache_creation.input_tokens",
      model: "gen_ai.request.model",
    },
  },
  {
    // up to version 5 it passes on the counts of Anthropic and Bedrock; from 6 on it adds cached tokens and reports both.
    // Tools of a streamed completion run in child spans and may call models themselves
    producer: "Vercel AI SDK",
    scope: /^(?:ai|gen_ai)$/,
    excludesDescendants: { which: "`doGenerate`, `doStream`, `doEmbed`", is: callsModel },
    excludesCache: {
      which: "Anthropic's and Bedrock's without `ai.usage.inputTokenDetails.noCacheTokens`",
      is: (attributes) =>
        !attributes.has("ai.usage.inputTokenDetails.noCacheTokens") &&
        /anthropic|bedrock/.test(textIn(attributes, "ai.model.provider")),
    },
  },
  {
    // a streamed completion becomes a child of the active span (langsmith.json); a chain repeats the usage it returns
    // (python/langsmith-chain.json), with details that are not JSON
    producer: "LangSmith",
    scope: /^langsmith$/,
    excludesDescendants: { which: "of kind `llm`, or of none", is: isModelRun },
    callsNoModel: { which: "of another kind than `llm`", is: (attributes) => !isModelRun(attributes) },
    raw: ["langsmith.metadata.usage_metadata"],
    model: { in: "LangChain's response in `gen_ai.completion`", read: modelOfGeneration },
    session: ["langsmith.metadata.session_id", "langsmith.metadata.thread_id"],
    user: ["langsmith.metadata.user_id"],
  },
  {
    producer: "OpenLLMetry, Anthropic and Bedrock, in JavaScript",
    scope: /^@traceloop\/instrumentation-(?:anthropic|bedrock)$/,
    excludesCache: ALWAYS,
  },
  {
    producer: "OpenLLMetry, Gemini",
    scope: /^opentelemetry\.instrumentation\.google_generativeai$/,
    reasoningInTotal: ALWAYS,
  },
  {
    producer: "OpenTelemetry, Bedrock by botocore",
    scope: /^opentelemetry\.instrumentation\.botocore\.bedrock-runtime$/,
    excludesCache: ALWAYS,
  },
  {
    producer: "Logfire",
    scope: /^logfire\.(?:openai|anthropic)$/,
    raw: ["gen_ai.usage.raw"],
  },
  {
    producer: "OpenLLMetry",
    scope: /^(?:@traceloop\/|opentelemetry\.instrumentation\.(?:openai\.v1|anthropic)$)/,
  },
  {
    producer: "OpenInference, Haystack and smolagents",
    scope: /^openinference\.instrumentation\.(?:haystack|smolagents)$/,
    response: { in: "Python's text of the response in `output.value`", read: responseInPythonText },
  },
  {
    producer: "LlamaIndex, its own tracing",
    scope: /^llamaindex\.opentelemetry\.tracer$/,
    response: {
      in: "`response.raw` of `LLMChatEndEvent` and `LLMCompletionEndEvent`",
      read: responseInMembers,
    },
  },
  { producer: "OpenInference", scope: /^(?:@arizeai\/openinference-|openinference\.instrumentation\.)/ },
  {
    producer: "OpenTelemetry, OpenAI",
    scope: /^(?:@opentelemetry\/instrumentation-openai|opentelemetry\.instrumentation\.openai_v2)$/,
  },
  { producer: "`anthropic`, its own tracing", scope: /^com\.anthropic\.sdk\./ },
  { producer: "Google ADK", scope: /^gcp\.vertex\.agent$/ },
  { producer: "Langfuse", scope: /^langfuse-sdk$/ },
  { producer: "Mastra", scope: /^@mastra\/otel-exporter$/ },
  { producer: "Strands", scope: /^strands/ },
  { producer: "VoltAgent", scope: /^@voltagent\/core$/ },
  { producer: "Pydantic AI", scope: /^pydantic-ai$/ },
  { producer: "Semantic Kernel", scope: /^semantic_kernel\./ },
  {
    producer: "Mirascope",
    scope: /^mirascope\./,
    raw: ["mirascope.response.usage"],
    model: { in: "`mirascope.response.model_id`", read: modelOfMirascope },
  },
  { producer: "MLflow", scope: /^mlflow\./ },
];

const UNKNOWN: Omit<Profile, "producer" | "scope"> = {};

/** Returns the profile of a span's producer; `undefined` for an unknown scope. */
export function profileOf({ name, scopeName, scopeVersion }: SpanOfProducer): Profile | undefined {
  return PROFILES.find(
    ({ scope, version, spans }) =>
      scope.test(scopeName) && version?.test(scopeVersion) !== false && spans?.test(name) !== false,
  );
}

/**
 * True if a span's usage includes its descendants', as for almost all producers: a wrapper repeats the sum of its children,
 * a second instrumentation the same completion. A recorded trace proves each exception.
 */
export function inclusiveOf(span: SpanOfProducer): Inclusive {
  return factsOf(span).excludesDescendants?.is(span.attributes) === true ? false : "in_total";
}

/** True if a span's prompt count excludes cached tokens. */
export function excludesCache(span: SpanOfProducer): boolean {
  return factsOf(span).excludesCache?.is(span.attributes) === true;
}

/** Returns the attributes, with names that only this producer uses mapped to those of the conventions. */
export function usageAttributes(span: SpanOfProducer): Attributes {
  const { names } = factsOf(span);
  const { attributes } = span;
  if (names === undefined) return attributes;
  const renamed = Object.entries(names).flatMap(([sentAs, known]) =>
    attributes.has(sentAs) && !attributes.has(known) ? [[known, attributes.get(sentAs)] as const] : [],
  );
  return new Map([...attributes, ...renamed]);
}

export function factsOf(span: SpanOfProducer): Omit<Profile, "producer" | "scope"> {
  return profileOf(span) ?? UNKNOWN;
}
