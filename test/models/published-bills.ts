/** A call as its provider tells it, and what it costs by the provider's published prices, worked out by hand. */
export interface Bill {
  readonly provider: string;
  readonly llm: string;
  /** When it started. Default: 2026-11-01. */
  readonly at?: string;
  readonly usage: Readonly<Record<string, unknown>>;
  readonly output?: unknown;
  /** Each quantity with its price in USD per million; a search at $10 a thousand is 10,000. */
  readonly bill: readonly (readonly [quantity: number, usdPerMillion: string])[];
  readonly usd: string;
}

/** In USD per million tokens, from the pages that are named, with the day somebody has seen them or quoted from them. */
export const bills: readonly Bill[] = [
  // OpenAI: https://developers.openai.com/api/docs/pricing, https://openai.com/api-priority-processing and its flex guide, seen 2026-11-22
  {
    provider: "OpenAI",
    llm: "gpt-4o",
    usage: { prompt_tokens: 1234, completion_tokens: 567, total_tokens: 1801 },
    bill: [
      [1234, "2.5"],
      [567, "10"],
    ],
    usd: "0.008755",
  },
  {
    provider: "OpenAI",
    llm: "gpt-4o-2024-08-06",
    usage: {
      prompt_tokens: 1500,
      completion_tokens: 321,
      total_tokens: 1821,
      prompt_tokens_details: { cached_tokens: 1000 },
    },
    bill: [
      [500, "2.5"],
      [1000, "1.25"],
      [321, "10"],
    ],
    usd: "0.00571",
  },
  {
    provider: "OpenAI",
    llm: "gpt-4o-mini",
    usage: { input_tokens: 9001, output_tokens: 77, input_tokens_details: { cached_tokens: 8192 } },
    bill: [
      [809, "0.15"],
      [8192, "0.075"],
      [77, "0.6"],
    ],
    usd: "0.00078195",
  },
  {
    provider: "OpenAI",
    llm: "gpt-5",
    usage: {
      prompt_tokens: 75,
      completion_tokens: 1186,
      total_tokens: 1261,
      completion_tokens_details: { reasoning_tokens: 1024 },
    },
    bill: [
      [75, "1.25"],
      [1186, "10"],
    ],
    usd: "0.01195375",
  },
  {
    provider: "OpenAI",
    llm: "gpt-5",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1100,
      prompt_tokens_details: { cached_tokens: 400 },
      service_tier: "flex",
    },
    bill: [
      [600, "0.625"],
      [400, "0.0625"],
      [100, "5"],
    ],
    usd: "0.0009",
  },
  {
    provider: "OpenAI",
    llm: "gpt-5",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 100,
      total_tokens: 1100,
      prompt_tokens_details: { cached_tokens: 400 },
      service_tier: "priority",
    },
    bill: [
      [600, "2.5"],
      [400, "0.25"],
      [100, "20"],
    ],
    usd: "0.0036",
  },
  {
    provider: "OpenAI",
    llm: "gpt-4.1",
    usage: {
      prompt_tokens: 3000,
      completion_tokens: 250,
      total_tokens: 3250,
      prompt_tokens_details: { cached_tokens: 2048 },
      service_tier: "priority",
    },
    bill: [
      [952, "3.5"],
      [2048, "0.875"],
      [250, "14"],
    ],
    usd: "0.008624",
  },
  {
    provider: "OpenAI",
    llm: "gpt-4o",
    usage: {
      prompt_tokens: 777,
      completion_tokens: 88,
      total_tokens: 865,
      prompt_tokens_details: { cached_tokens: 512 },
      service_tier: "priority",
    },
    bill: [
      [265, "4.25"],
      [512, "2.125"],
      [88, "17"],
    ],
    usd: "0.00371025",
  },
  {
    provider: "OpenAI",
    llm: "gpt-5-mini",
    usage: { prompt_tokens: 640, completion_tokens: 64, total_tokens: 704, service_tier: "priority" },
    bill: [
      [640, "0.45"],
      [64, "3.6"],
    ],
    usd: "0.0005184",
  },
  {
    provider: "OpenAI",
    llm: "gpt-5",
    usage: { input_tokens: 800, output_tokens: 120 },
    output: {
      model: "gpt-5",
      usage: { input_tokens: 800, output_tokens: 120 },
      output: [
        { type: "web_search_call", action: { type: "search" } },
        { type: "web_search_call", action: { type: "search" } },
        { type: "web_search_call", action: { type: "search" } },
      ],
    },
    bill: [
      [800, "1.25"],
      [120, "10"],
      [3, "10000"],
    ],
    usd: "0.0322",
  },
  // Anthropic: https://platform.claude.com/docs/en/about-claude/pricing and its page on batches, seen 2026-11-22
  {
    provider: "Anthropic",
    llm: "claude-opus-4-5",
    usage: {
      input_tokens: 1021,
      output_tokens: 203,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    },
    bill: [
      [1021, "5"],
      [203, "25"],
    ],
    usd: "0.01018",
  },
  {
    provider: "Anthropic",
    llm: "claude-opus-4-5",
    usage: {
      input_tokens: 21,
      output_tokens: 203,
      cache_read_input_tokens: 18000,
      cache_creation_input_tokens: 2600,
    },
    bill: [
      [21, "5"],
      [18000, "0.5"],
      [2600, "6.25"],
      [203, "25"],
    ],
    usd: "0.03043",
  },
  {
    provider: "Anthropic",
    llm: "claude-opus-4-5",
    usage: {
      input_tokens: 21,
      output_tokens: 203,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 10000,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 10000 },
    },
    bill: [
      [21, "5"],
      [10000, "10"],
      [203, "25"],
    ],
    usd: "0.10518",
  },
  {
    provider: "Anthropic",
    llm: "claude-opus-4-1",
    usage: {
      input_tokens: 5,
      output_tokens: 400,
      cache_read_input_tokens: 1000,
      cache_creation_input_tokens: 1000,
      cache_creation: { ephemeral_5m_input_tokens: 700, ephemeral_1h_input_tokens: 300 },
    },
    bill: [
      [5, "15"],
      [1000, "1.5"],
      [700, "18.75"],
      [300, "30"],
      [400, "75"],
    ],
    usd: "0.0537",
  },
  {
    provider: "Anthropic",
    llm: "claude-fable-5",
    usage: {
      input_tokens: 900,
      output_tokens: 310,
      cache_read_input_tokens: 5000,
      cache_creation_input_tokens: 0,
    },
    bill: [
      [900, "10"],
      [5000, "1"],
      [310, "50"],
    ],
    usd: "0.0295",
  },
  {
    provider: "Anthropic",
    llm: "claude-opus-4-8",
    usage: {
      input_tokens: 2000,
      output_tokens: 150,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      server_tool_use: { web_search_requests: 2 },
    },
    bill: [
      [2000, "5"],
      [150, "25"],
      [2, "10000"],
    ],
    usd: "0.03375",
  },
  {
    provider: "Anthropic",
    llm: "claude-haiku-4-5",
    usage: {
      input_tokens: 4000,
      output_tokens: 500,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      service_tier: "batch",
    },
    bill: [
      [4000, "0.5"],
      [500, "2.5"],
    ],
    usd: "0.00325",
  },
  {
    provider: "Anthropic",
    llm: "claude-opus-5",
    usage: {
      input_tokens: 100,
      output_tokens: 10,
      cache_read_input_tokens: 2000,
      cache_creation_input_tokens: 500,
      service_tier: "batch",
    },
    bill: [
      [100, "2.5"],
      [2000, "0.25"],
      [500, "3.125"],
      [10, "12.5"],
    ],
    usd: "0.0024375",
  },
  // Google: https://ai.google.dev/gemini-api/docs/pricing, as quoted in March 2026
  {
    provider: "Google",
    llm: "gemini-2.5-pro",
    usage: {
      promptTokenCount: 1500,
      candidatesTokenCount: 200,
      thoughtsTokenCount: 900,
      totalTokenCount: 2600,
    },
    bill: [
      [1500, "1.25"],
      [1100, "10"],
    ],
    usd: "0.012875",
  },
  {
    provider: "Google",
    llm: "gemini-2.5-pro",
    usage: {
      promptTokenCount: 50000,
      cachedContentTokenCount: 48000,
      candidatesTokenCount: 300,
      totalTokenCount: 50300,
    },
    bill: [
      [2000, "1.25"],
      [48000, "0.125"],
      [300, "10"],
    ],
    usd: "0.0115",
  },
  {
    provider: "Google",
    llm: "gemini-2.5-pro",
    usage: { promptTokenCount: 250000, candidatesTokenCount: 1000, totalTokenCount: 251000 },
    bill: [
      [250000, "2.5"],
      [1000, "15"],
    ],
    usd: "0.64",
  },
  {
    provider: "Google",
    llm: "gemini-2.5-flash",
    usage: {
      promptTokenCount: 420,
      toolUsePromptTokenCount: 80,
      candidatesTokenCount: 32,
      thoughtsTokenCount: 68,
      totalTokenCount: 600,
    },
    bill: [
      [500, "0.3"],
      [100, "2.5"],
    ],
    usd: "0.0004",
  },
  {
    provider: "Google",
    llm: "gemini-2.5-flash",
    usage: {
      promptTokenCount: 1000,
      candidatesTokenCount: 50,
      totalTokenCount: 1050,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 300 },
        { modality: "AUDIO", tokenCount: 700 },
      ],
    },
    bill: [
      [300, "0.3"],
      [700, "1"],
      [50, "2.5"],
    ],
    usd: "0.000915",
  },
  {
    provider: "Google",
    llm: "models/gemini-2.5-flash-lite",
    usage: { prompt_token_count: 7777, candidates_token_count: 111, total_token_count: 7888 },
    bill: [
      [7777, "0.1"],
      [111, "0.4"],
    ],
    usd: "0.0008221",
  },
  // DeepSeek: https://api-docs.deepseek.com/quick_start/pricing and its news of 2025-08-21 and 2025-09-29, seen 2026-11-22
  {
    provider: "DeepSeek",
    llm: "deepseek-chat",
    at: "2025-09-10T00:00:00Z",
    usage: {
      prompt_tokens: 1324,
      completion_tokens: 200,
      total_tokens: 1524,
      prompt_cache_hit_tokens: 1024,
      prompt_cache_miss_tokens: 300,
    },
    bill: [
      [1024, "0.07"],
      [300, "0.56"],
      [200, "1.68"],
    ],
    usd: "0.00057568",
  },
  {
    provider: "DeepSeek",
    llm: "deepseek-chat",
    at: "2025-10-15T00:00:00Z",
    usage: {
      prompt_tokens: 1324,
      completion_tokens: 200,
      total_tokens: 1524,
      prompt_cache_hit_tokens: 1024,
      prompt_cache_miss_tokens: 300,
    },
    bill: [
      [1024, "0.028"],
      [300, "0.28"],
      [200, "0.42"],
    ],
    usd: "0.000196672",
  },
  {
    provider: "DeepSeek",
    llm: "deepseek-reasoner",
    at: "2025-12-01T08:00:00Z",
    usage: {
      prompt_tokens: 900,
      completion_tokens: 3000,
      total_tokens: 3900,
      prompt_cache_hit_tokens: 0,
      prompt_cache_miss_tokens: 900,
    },
    bill: [
      [900, "0.28"],
      [3000, "0.42"],
    ],
    usd: "0.001512",
  },
  {
    provider: "DeepSeek",
    llm: "deepseek-v4-flash",
    at: "2026-05-01T00:00:00Z",
    usage: {
      prompt_tokens: 2148,
      completion_tokens: 50,
      total_tokens: 2198,
      prompt_cache_hit_tokens: 2048,
      prompt_cache_miss_tokens: 100,
    },
    bill: [
      [2048, "0.0028"],
      [100, "0.14"],
      [50, "0.28"],
    ],
    usd: "0.0000337344",
  },
  {
    provider: "DeepSeek",
    llm: "deepseek-v4-pro",
    at: "2026-05-01T00:00:00Z",
    usage: {
      prompt_tokens: 2148,
      completion_tokens: 50,
      total_tokens: 2198,
      prompt_cache_hit_tokens: 2048,
      prompt_cache_miss_tokens: 100,
    },
    bill: [
      [2048, "0.003625"],
      [100, "0.435"],
      [50, "0.87"],
    ],
    usd: "0.000094424",
  },
  // xAI: https://docs.x.ai/docs/models, as archived on 2025-06-02
  {
    provider: "xAI",
    llm: "grok-3",
    at: "2025-06-02T12:00:00Z",
    usage: {
      prompt_tokens: 2000,
      completion_tokens: 150,
      total_tokens: 2150,
      prompt_tokens_details: { cached_tokens: 1500 },
    },
    bill: [
      [500, "3"],
      [1500, "0.75"],
      [150, "15"],
    ],
    usd: "0.004875",
  },
  {
    provider: "xAI",
    llm: "grok-3-mini",
    at: "2025-06-02T12:00:00Z",
    usage: {
      prompt_tokens: 32,
      completion_tokens: 9,
      total_tokens: 135,
      completion_tokens_details: { reasoning_tokens: 94 },
    },
    bill: [
      [32, "0.3"],
      [103, "0.5"],
    ],
    usd: "0.0000611",
  },
  {
    provider: "xAI",
    llm: "grok-3-fast",
    at: "2025-06-02T12:00:00Z",
    usage: { prompt_tokens: 640, completion_tokens: 64, total_tokens: 704 },
    bill: [
      [640, "5"],
      [64, "25"],
    ],
    usd: "0.0048",
  },
  {
    provider: "xAI",
    llm: "grok-3-mini-fast",
    at: "2025-06-02T12:00:00Z",
    usage: {
      prompt_tokens: 500,
      completion_tokens: 20,
      total_tokens: 820,
      prompt_tokens_details: { cached_tokens: 384 },
      completion_tokens_details: { reasoning_tokens: 300 },
    },
    bill: [
      [116, "0.6"],
      [384, "0.15"],
      [320, "4"],
    ],
    usd: "0.0014072",
  },
  // Perplexity: https://docs.perplexity.ai/getting-started/pricing, seen 2026-11-22
  {
    provider: "Perplexity",
    llm: "sonar-deep-research",
    usage: {
      prompt_tokens: 33,
      completion_tokens: 7163,
      total_tokens: 7196,
      citation_tokens: 20016,
      num_search_queries: 18,
      reasoning_tokens: 73997,
    },
    bill: [
      [33, "2"],
      [7163, "8"],
      [20016, "2"],
      [18, "5000"],
      [73997, "3"],
    ],
    usd: "0.409393",
  },
  {
    provider: "Perplexity",
    llm: "sonar-deep-research",
    usage: {
      prompt_tokens: 1200,
      completion_tokens: 2500,
      total_tokens: 3700,
      citation_tokens: 8000,
      num_search_queries: 7,
      reasoning_tokens: 15000,
    },
    bill: [
      [1200, "2"],
      [2500, "8"],
      [8000, "2"],
      [7, "5000"],
      [15000, "3"],
    ],
    usd: "0.1184",
  },
  {
    provider: "Perplexity",
    llm: "perplexity/sonar-deep-research",
    usage: {
      prompt_tokens: 9,
      completion_tokens: 400,
      total_tokens: 409,
      citation_tokens: 0,
      num_search_queries: 30,
      reasoning_tokens: 0,
    },
    bill: [
      [9, "2"],
      [400, "8"],
      [30, "5000"],
    ],
    usd: "0.153218",
  },
  // Groq: https://console.groq.com/docs/models and /docs/flex-processing, seen 2026-11-22
  {
    provider: "Groq",
    llm: "openai/gpt-oss-120b",
    usage: { prompt_tokens: 1000, completion_tokens: 250, total_tokens: 1250, provider: "groq" },
    bill: [
      [1000, "0.15"],
      [250, "0.6"],
    ],
    usd: "0.0003",
  },
  {
    provider: "Groq",
    llm: "groq/openai/gpt-oss-120b",
    usage: { prompt_tokens: 333, completion_tokens: 22, total_tokens: 355 },
    bill: [
      [333, "0.15"],
      [22, "0.6"],
    ],
    usd: "0.00006315",
  },
  {
    provider: "Groq",
    llm: "openai/gpt-oss-120b",
    usage: {
      prompt_tokens: 4096,
      completion_tokens: 512,
      total_tokens: 4608,
      provider: "groq",
      service_tier: "flex",
    },
    bill: [
      [4096, "0.15"],
      [512, "0.6"],
    ],
    usd: "0.0009216",
  },
  {
    provider: "Groq",
    llm: "openai/gpt-oss-120b",
    usage: {
      prompt_tokens: 70,
      completion_tokens: 7,
      total_tokens: 77,
      provider: "groq",
      service_tier: "on_demand",
    },
    bill: [
      [70, "0.15"],
      [7, "0.6"],
    ],
    usd: "0.0000147",
  },
  // Mistral: https://mistral.ai/pricing, as quoted in June 2026
  {
    provider: "Mistral",
    llm: "magistral-medium",
    usage: { prompt_tokens: 1200, completion_tokens: 3400, total_tokens: 4600 },
    bill: [
      [1200, "2"],
      [3400, "5"],
    ],
    usd: "0.0194",
  },
  {
    provider: "Mistral",
    llm: "mistral-large-2512",
    usage: { prompt_tokens: 900, completion_tokens: 90, total_tokens: 990 },
    bill: [
      [900, "0.5"],
      [90, "1.5"],
    ],
    usd: "0.000585",
  },
  {
    provider: "Mistral",
    llm: "mistral/mistral-small-latest",
    usage: { prompt_tokens: 12345, completion_tokens: 678, total_tokens: 13023 },
    bill: [
      [12345, "0.1"],
      [678, "0.3"],
    ],
    usd: "0.0014379",
  },
  // Cohere: https://cohere.com/pricing, as quoted on 2026-11-11
  {
    provider: "Cohere",
    llm: "command-r",
    usage: {
      billed_units: { input_tokens: 411, output_tokens: 82 },
      tokens: { input_tokens: 1400, output_tokens: 82 },
    },
    bill: [
      [411, "0.15"],
      [82, "0.6"],
    ],
    usd: "0.00011085",
  },
  {
    provider: "Cohere",
    llm: "command-r7b",
    usage: { billed_units: { input_tokens: 2000, output_tokens: 500 } },
    bill: [
      [2000, "0.0375"],
      [500, "0.15"],
    ],
    usd: "0.00015",
  },
  {
    provider: "Cohere",
    llm: "cohere/command-r",
    usage: { prompt_tokens: 1000, completion_tokens: 1000, total_tokens: 2000 },
    bill: [
      [1000, "0.15"],
      [1000, "0.6"],
    ],
    usd: "0.00075",
  },
  // Moonshot: https://platform.kimi.ai/docs/pricing/chat-k3, and the prices of K2 as quoted beside it, seen 2026-11-22
  {
    provider: "Moonshot",
    llm: "kimi-k3",
    usage: {
      prompt_tokens: 10000,
      completion_tokens: 700,
      total_tokens: 10700,
      prompt_tokens_details: { cached_tokens: 8000 },
    },
    bill: [
      [2000, "3"],
      [8000, "0.3"],
      [700, "15"],
    ],
    usd: "0.0189",
  },
  {
    provider: "Moonshot",
    llm: "kimi-k3",
    usage: { prompt_tokens: 55, completion_tokens: 5, total_tokens: 60 },
    bill: [
      [55, "3"],
      [5, "15"],
    ],
    usd: "0.00024",
  },
  {
    provider: "Moonshot",
    llm: "kimi-k2-thinking",
    usage: {
      prompt_tokens: 3000,
      completion_tokens: 1500,
      total_tokens: 4500,
      prompt_tokens_details: { cached_tokens: 1024 },
    },
    bill: [
      [1976, "0.6"],
      [1024, "0.15"],
      [1500, "2.5"],
    ],
    usd: "0.0050892",
  },
  {
    provider: "Moonshot",
    llm: "kimi-k2-turbo-preview",
    usage: {
      prompt_tokens: 400,
      completion_tokens: 40,
      total_tokens: 440,
      prompt_tokens_details: { cached_tokens: 128 },
    },
    bill: [
      [272, "1.15"],
      [128, "0.15"],
      [40, "8"],
    ],
    usd: "0.000652",
  },
  // Models and tiers that the list does not have: the same pages, and those named in src/prices, seen 2026-11-22
  {
    provider: "OpenAI",
    llm: "gpt-6.1-sol",
    usage: {
      input_tokens: 272_000,
      output_tokens: 1000,
      input_tokens_details: { cached_tokens: 100_000, cache_write_tokens: 2000 },
    },
    bill: [
      [170_000, "2"],
      [100_000, "0.1"],
      [2000, "2.5"],
      [1000, "10"],
    ],
    usd: "0.365",
  },
  {
    provider: "OpenAI",
    llm: "gpt-6.1-sol-2026-09-29",
    usage: {
      input_tokens: 272_001,
      output_tokens: 1000,
      input_tokens_details: { cached_tokens: 100_000, cache_write_tokens: 2000 },
      service_tier: "fast",
    },
    bill: [
      [170_001, "8"],
      [100_000, "0.4"],
      [2000, "10"],
      [1000, "30"],
    ],
    usd: "1.450008",
  },
  {
    provider: "Anthropic",
    llm: "claude-haiku-5-5",
    usage: {
      input_tokens: 1,
      output_tokens: 200,
      cache_read_input_tokens: 90_000,
      cache_creation_input_tokens: 10_000,
      cache_creation: { ephemeral_5m_input_tokens: 4000, ephemeral_1h_input_tokens: 6000 },
    },
    bill: [
      [1, "0.5"],
      [90_000, "0.05"],
      [4000, "0.625"],
      [6000, "1"],
      [200, "2.5"],
    ],
    usd: "0.0135005",
  },
  {
    provider: "Anthropic",
    llm: "claude-opus-5-5",
    usage: {
      input_tokens: 700,
      output_tokens: 90,
      cache_read_input_tokens: 3000,
      cache_creation_input_tokens: 0,
      speed: "fast",
      inference_geo: "us",
      server_tool_use: { web_search_requests: 1 },
    },
    bill: [
      [700, "8.8"],
      [90, "44"],
      [3000, "0.44"],
      [1, "10000"],
    ],
    usd: "0.02144",
  },
  {
    provider: "xAI",
    llm: "grok-4.7",
    usage: {
      prompt_tokens: 200_000,
      completion_tokens: 50,
      total_tokens: 200_200,
      prompt_tokens_details: { cached_tokens: 150_000 },
      completion_tokens_details: { reasoning_tokens: 150 },
      server_side_tool_usage_details: { web_search_calls: 2, x_search_calls: 1 },
    },
    bill: [
      [50_000, "4"],
      [150_000, "1"],
      [200, "12"],
      [3, "5000"],
    ],
    usd: "0.3674",
  },
  {
    provider: "Perplexity",
    llm: "sonar",
    usage: { prompt_tokens: 120, completion_tokens: 300, total_tokens: 420, search_context_size: "low" },
    bill: [
      [120, "1"],
      [300, "1"],
      [1, "5000"],
    ],
    usd: "0.00542",
  },
  {
    provider: "Perplexity",
    llm: "sonar-pro",
    usage: { prompt_tokens: 120, completion_tokens: 300, total_tokens: 420, search_context_size: "high" },
    bill: [
      [120, "3"],
      [300, "15"],
      [1, "14000"],
    ],
    usd: "0.01886",
  },
  {
    provider: "OpenAI",
    llm: "whisper-1",
    usage: { type: "duration", seconds: 89.2 },
    bill: [[90, "100"]],
    usd: "0.009",
  },
  {
    provider: "Mistral",
    llm: "mistral-ocr-2512",
    usage: { pages_processed: 12, doc_size_bytes: 123456 },
    bill: [[12, "2000"]],
    usd: "0.024",
  },
];
