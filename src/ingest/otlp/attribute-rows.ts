/**
 * Attributes with the same meaning. The first present one of a row wins; their values are never added.
 *
 * In this order: the official GenAI conventions, today's names before older ones; OpenLLMetry, OpenInference, the Vercel AI SDK
 * (7 back to 4), and names that one producer uses. Sources: @opentelemetry/semantic-conventions 1.45,
 * @traceloop/ai-semantic-conventions 0.27, @arizeai/openinference-semantic-conventions 2.12, and what the packages in
 * docs/clients.md sent (test/fixtures/otlp).
 */
export const TOKENS = {
  prompt_tokens: [
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "ai.usage.inputTokens",
    "ai.usage.promptTokens",
    "ai.usage.tokens",
    "llm.usage.prompt_tokens", // VoltAgent, its model calls
    "usage.prompt_tokens", // VoltAgent, its agents
  ],
  completion_tokens: [
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
    "llm.usage.completion_tokens",
    "usage.completion_tokens",
  ],
  total_tokens: [
    "gen_ai.usage.total_tokens",
    "llm.usage.total_tokens",
    "llm.token_count.total",
    "ai.usage.totalTokens",
    "usage.total_tokens",
  ],
  cache_read_input_tokens: [
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.input_tokens.cached", // Sentry
    "gen_ai.usage.cached_input_tokens", // Mastra
    "gen_ai.usage.details.cache_read_tokens", // Pydantic AI
    "gen_ai.usage.prompt_tokens_details.cached_tokens",
    "llm.token_count.prompt_details.cache_read",
    "ai.usage.inputTokenDetails.cacheReadTokens",
    "ai.usage.cachedInputTokens",
    "llm.usage.cached_tokens",
    "usage.cached_tokens",
  ],
  cache_creation_input_tokens: [
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.cache_write_input_tokens", // Strands
    "gen_ai.usage.input_tokens.cache_write", // Sentry
    "gen_ai.usage.details.cache_write_tokens", // Pydantic AI
    "gen_ai.usage.prompt_tokens_details.cache_creation_input_tokens", // DashScope
    "llm.token_count.prompt_details.cache_write",
    "ai.usage.inputTokenDetails.cacheWriteTokens",
  ],
  /** Part of the completion; kept in the summary. */
  reasoning_tokens: [
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.reasoning_tokens",
    "llm.token_count.completion_details.reasoning",
    "ai.usage.outputTokenDetails.reasoningTokens",
    "ai.usage.reasoningTokens",
    "gen_ai.usage.output_tokens.reasoning",
    "llm.usage.reasoning_tokens",
    "usage.reasoning_tokens",
  ],
} as const;

/** Units besides plain tokens, named as in a call's `summary.usage`. */
export const UNITS = {
  cache_write_1h_tokens: [
    "anthropic.usage.cache_creation.ephemeral_1h_input_tokens",
    "gen_ai.usage.details.cache_write_1h_tokens",
    "gen_ai.usage.details.ephemeral_1h_input_tokens", // Pydantic AI
    "gen_ai.usage.prompt_tokens_details.cache_creation.ephemeral_1h_input_tokens", // DashScope
  ],
  input_audio_tokens: [
    "gen_ai.usage.audio.input_tokens",
    "llm.token_count.prompt_details.audio",
    "gen_ai.usage.details.input_audio_tokens",
    "gen_ai.usage.input_audio_tokens",
  ],
  output_audio_tokens: [
    "gen_ai.usage.audio.output_tokens",
    "llm.token_count.completion_details.audio",
    "gen_ai.usage.details.output_audio_tokens",
    "gen_ai.usage.output_audio_tokens",
  ],
  input_image_tokens: ["gen_ai.usage.image.input_tokens", "gen_ai.usage.details.input_image_tokens"],
  output_image_tokens: ["gen_ai.usage.image.output_tokens", "gen_ai.usage.details.output_image_tokens"],
  input_video_tokens: ["gen_ai.usage.video.input_tokens", "gen_ai.usage.details.input_video_tokens"],
  output_video_tokens: ["gen_ai.usage.video.output_tokens", "gen_ai.usage.details.output_video_tokens"],
  cache_audio_read_tokens: [
    "gen_ai.usage.audio.cache_read.input_tokens",
    "gen_ai.usage.details.cache_audio_read_tokens",
  ],
  cache_image_read_tokens: [
    "gen_ai.usage.image.cache_read.input_tokens",
    "gen_ai.usage.details.cache_image_read_tokens",
  ],
  web_searches: [
    "anthropic.usage.server_tool_use.web_search_requests",
    "gen_ai.usage.server_tool_use.web_search_requests",
    "gen_ai.usage.details.web_search_requests",
  ],
} as const;

/** Cost in USD, as the producer or the proxy that it called computed it. */
export const COST = [
  "gen_ai.usage.cost", // OpenLIT
  "gen_ai.usage.total_cost", // Sentry, OpenRouter
  "gen_ai.cost.total_cost", // LiteLLM
  "gen_ai.usage.cost.total", // genai-otel-instrument
  "gen_ai.usage.cost_usd",
  "llm.cost.total", // OpenInference
  "operation.cost", // Pydantic AI, Logfire
] as const;

/** Provider by name, or server by address. */
export const PROVIDER = [
  "gen_ai.provider.name",
  "gen_ai.system",
  "llm.provider",
  "llm.system",
  "ai.model.provider",
] as const;
export const SERVER = ["server.address", "gen_ai.openai.api_base", "llm.api_base", "net.peer.name"] as const;

/** Response model. */
export const RESPONSE_MODEL = ["gen_ai.response.model", "ai.response.model"] as const;

/** Response model, else the requested model. */
export const MODEL = [
  ...RESPONSE_MODEL,
  "gen_ai.request.model",
  "llm.model_name",
  "embedding.model_name",
  "ai.model.id",
  "langfuse.observation.model.name",
  "mlflow.llm.model",
  "llm.model", // VoltAgent, its model calls
  "ai.model.name", // VoltAgent, its agents
] as const;

/** The provider's id of the response. */
export const COMPLETION_ID = ["gen_ai.response.id", "ai.response.id"] as const;

export const THREAD = [
  "wandb.thread_id",
  "gen_ai.conversation.id",
  "traceloop.association.properties.thread_id",
  "traceloop.association.properties.session_id",
  "session.id",
  "ai.telemetry.metadata.threadId",
  "ai.telemetry.metadata.sessionId",
] as const;

export const USER = [
  "user.id",
  "enduser.id",
  "traceloop.association.properties.user_id",
  "ai.telemetry.metadata.userId",
] as const;

export const DISPLAY_NAME = ["wandb.display_name"] as const;
export const RUN = ["wandb.wb_run_id"] as const;
export const RUN_STEP = "wandb.wb_run_step";
export const IS_TURN = "wandb.is_turn";
/** Id and trace of the Weave SDK's call in which the span began. */
export const WEAVE_CALL = ["weave.parent_call.id", "weave.parent_call.trace_id"] as const;

/** Spans that never call a model themselves: they report the usage of other spans. */
export const NO_REQUESTS: readonly { readonly attribute: string; readonly values: ReadonlySet<string> }[] = [
  { attribute: "gen_ai.operation.name", values: new Set(["invoke_agent", "create_agent"]) },
  {
    attribute: "ai.operationId",
    values: new Set([
      "ai.generateText",
      "ai.streamText",
      "ai.generateObject",
      "ai.streamObject",
      "ai.embed",
      "ai.embedMany",
    ]),
  },
  { attribute: "openinference.span.kind", values: new Set(["CHAIN", "AGENT"]) },
];

/** Attributes that name embeddings and reranking, whose models write nothing. */
export const KIND = ["gen_ai.operation.name", "openinference.span.kind", "llm.request.type"] as const;

export interface PayloadRow {
  readonly attribute: string;
  /** Member of `inputs` that receives the value. If it is set already, the attribute stays an attribute. */
  readonly as: string;
  /** Merges the members of an object into `inputs`. */
  readonly spread?: true;
}

/** Attributes that hold inputs. `x` includes the list `x.0.…`, `x.1.…`. */
export const INPUTS: readonly PayloadRow[] = [
  { attribute: "gen_ai.system_instructions", as: "system_instructions" },
  { attribute: "gen_ai.input.messages", as: "messages" },
  { attribute: "gen_ai.prompt", as: "messages" },
  { attribute: "gen_ai.tool.call.arguments", as: "arguments" },
  { attribute: "gen_ai.retrieval.query.text", as: "query" },
  { attribute: "traceloop.entity.input", as: "input", spread: true },
  { attribute: "input.value", as: "input", spread: true },
  { attribute: "llm.input_messages", as: "messages" },
  { attribute: "ai.prompt.messages", as: "messages" },
  { attribute: "ai.prompt", as: "prompt", spread: true },
  { attribute: "ai.toolCall.args", as: "arguments" },
  { attribute: "mlflow.spanInputs", as: "input", spread: true },
  { attribute: "ai.value", as: "value" },
  { attribute: "ai.values", as: "values" },
];

/** Attributes that hold the output: the first present and non-empty one wins. */
export const OUTPUT = [
  "gen_ai.output.messages",
  "gen_ai.completion",
  "gen_ai.tool.call.result",
  "traceloop.entity.output",
  "output.value",
  "llm.output_messages",
  "mlflow.spanOutputs",
  "ai.response.text",
  "ai.response.object",
  "ai.response.toolCalls",
  "ai.result.text",
  "ai.result.object",
  "ai.toolCall.result",
] as const;

/** Events whose attributes count as attributes of their span. */
export const PAYLOAD_EVENTS: ReadonlySet<string> = new Set([
  "gen_ai.client.inference.operation.details",
  "gen_ai.content.prompt",
  "gen_ai.content.completion",
  // LlamaIndex
  "LLMChatEndEvent",
  "LLMCompletionEndEvent",
]);
