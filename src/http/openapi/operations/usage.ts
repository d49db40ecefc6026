import type { Operations } from "../operation.ts";

const usage = {
  requests: 2,
  prompt_tokens: 1200,
  completion_tokens: 300,
  total_tokens: 1500,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  prompt_tokens_total_cost: 0.003,
  completion_tokens_total_cost: 0.003,
  cache_read_input_tokens_total_cost: 0,
  cache_creation_input_tokens_total_cost: 0,
};
const receiptUsage = {
  requests: 1,
  prompt_tokens: 600,
  completion_tokens: 150,
  total_tokens: 750,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  units: {},
};
const nothingUsed = { ...receiptUsage, requests: 0, prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
const line = {
  of: "own" as const,
  llm: "gpt-4o",
  provider: null,
  unit: "uncached_prompt_tokens",
  cost: "prompt_tokens_total_cost",
  quantity: 600,
  rate_usd: 0.0000025,
  amount_usd: 0.0015,
  price: { source: "genai-prices 0.1.8", id: "openai/gpt-4o", effective_date: null },
  tier: "standard",
  tier_decided_by: "no other service tier was served",
  factor: {
    id: "0198f5e2-0000-7000-8000-0000000000c1",
    provider: "openai",
    factor: 0.85,
    effective_date: "2026-01-01T00:00:00.000Z",
  },
  billed_usd: 0.001275,
};
const receipt = {
  call_id: "0198f5e2-0000-7000-8000-000000000001",
  trace_id: "0198f5e2-0000-7000-8000-0000000000aa",
  started_at: "2026-01-15T09:30:00.000Z",
  usage: [
    {
      llm: "gpt-4o",
      provider: null,
      service_tier: null,
      cache_convention: "cached tokens are part of the prompt",
      reported: receiptUsage,
      counted_below: nothingUsed,
      own: receiptUsage,
    },
  ],
  usage_basis: null,
  completion: null,
  lines: [
    line,
    {
      ...line,
      unit: "completion_tokens",
      cost: "completion_tokens_total_cost",
      quantity: 150,
      rate_usd: 0.00001,
      amount_usd: 0.0015,
    },
  ],
  unpriced: [],
  total: {
    prompt_tokens_total_cost: 0.0015,
    completion_tokens_total_cost: 0.0015,
    cache_read_input_tokens_total_cost: 0,
    cache_creation_input_tokens_total_cost: 0,
    other_cost: 0,
    total_cost: 0.003,
    billed_cost: 0.00255,
  },
};
const response = {
  call_usage: { "0198f5e2-0000-7000-8000-000000000001": { "gpt-4o": usage } },
  unfinished_call_ids: [],
};
const day = {
  calls: 2,
  errors: 0,
  ...usage,
  other_cost: 0,
  total_cost: 0.006,
  cost_is_lower_bound: false,
};

const nothing = Object.fromEntries(
  Object.entries(day).map(([name, value]) => [name, typeof value === "number" ? 0 : value]),
);

const truncated = "more calls match than `limit` allows. The totals of those in the response are complete.";

/** With `accept: text/csv`: a line for every group in every bucket that has something of it. */
const csv = { "text/csv": { schema: { type: "string" } } } as const;

export const usageOperations: Operations = {
  "POST /trace/calls": {
    id: "traceCalls",
    summary: "The calls of a trace, as a tree needs them",
    description:
      "One JSON array a line, oldest call first, without payloads: the first line has the names of the values, each line after " +
      "it a call. `parent_id`, `display_name`, `ended_ms` and `exception` can be null; of an exception, these are the first 200 " +
      "characters. 100,000 calls are a few megabytes, where `POST /calls/stream_query` sends ten times as many.",
    response: "The calls of the trace; none where there is no such trace",
    example: {
      request: { project_id: "acme/demo", trace_id: receipt.trace_id },
      response: [receipt.call_id, null, "answer", null, 1768469400000, 1768469406500, null],
    },
  },
  "POST /trace/sizes": {
    id: "traceSizes",
    summary: "How many calls traces have, and how many of them failed",
    description: "Of whole traces, whenever their calls began. Cheaper than what they used.",
    response: "A size for each trace that has calls",
    example: {
      request: { project_id: "acme/demo", trace_ids: [receipt.trace_id] },
      response: { sizes: [{ trace_id: receipt.trace_id, calls: 6, failed: 1, unfinished: 0 }] },
    },
  },
  "POST /call/receipt": {
    id: "callReceipt",
    summary: "Explain why a call costs what it does",
    description:
      "One line per unit that the call and the calls below it used, with its price and with the service tier and request size " +
      "that decided the price. The lines add up to the call's totals in `POST /trace/usage` and to the cost of units that are " +
      "not tokens (`other_cost`).",
    response: "The lines and their sources",
    example: {
      request: { project_id: "acme/demo", call_id: "0198f5e2-0000-7000-8000-000000000001" },
      response: receipt,
    },
  },
  "POST /usage/stats": {
    id: "usageStats",
    summary: "Get usage and costs over time, by group",
    description:
      "Selects the calls of a window by `filter` and `query`, and adds them up in buckets of local time and in up to a thousand " +
      "groups. Each call only adds its own usage, so no token is counted twice: the groups and `other` add up to `total`, and " +
      "so do the buckets. With `accept: text/csv`, the response has one line per group and bucket with calls.",
    response: "Totals by group and bucket",
    also: { response: csv },
    example: {
      request: {
        project_id: "acme/demo",
        start: "2026-01-15T00:00:00Z",
        end: "2026-01-16T00:00:00Z",
        timezone: "Europe/Berlin",
        granularity: 86400,
        group_by: ["llm", { $getField: "attributes.tenant" }],
        include_costs: true,
      },
      response: {
        start: "2026-01-15T00:00:00.000Z",
        end: "2026-01-16T00:00:00.000Z",
        granularity: 86400,
        timezone: "Europe/Berlin",
        groups: [{ key: { llm: "gpt-4o", "attributes.tenant": "a" }, total: day }],
        other: null,
        total: day,
        buckets: [
          { timestamp: "2026-01-14T23:00:00.000Z", total: day, groups: [day], other: null },
          { timestamp: "2026-01-15T23:00:00.000Z", total: nothing, groups: [null], other: null },
        ],
        unpriced: [],
      },
    },
  },
  "POST /calls/stats": {
    id: "callsStats",
    summary: "Usage by model and latencies over time, for the Weave SDKs",
    description:
      "`usage_metrics` by bucket and model and `call_metrics` by bucket, over the calls of a window. Each call only adds its own " +
      "usage, so nothing is counted twice, even without a filter. Costs use the prices at the time of each call.",
    response: "Buckets of usage and of calls",
    example: {
      request: {
        project_id: "acme/demo",
        start: "2026-01-15T00:00:00Z",
        end: "2026-01-16T00:00:00Z",
        granularity: 86400,
        usage_metrics: [{ metric: "input_tokens" }, { metric: "total_cost", aggregations: ["sum", "max"] }],
        call_metrics: [{ metric: "latency_ms", aggregations: ["avg"], percentiles: [95] }],
      },
      response: {
        start: "2026-01-15T00:00:00.000Z",
        end: "2026-01-16T00:00:00.000Z",
        granularity: 86400,
        timezone: "UTC",
        usage_buckets: [
          {
            timestamp: "2026-01-15T00:00:00.000Z",
            model: "gpt-4o",
            sum_input_tokens: 1200,
            sum_total_cost: 0.006,
            max_total_cost: 0.004,
            count: 2,
          },
        ],
        call_buckets: [
          { timestamp: "2026-01-15T00:00:00.000Z", avg_latency_ms: 850, p95_latency_ms: 1200, count: 2 },
        ],
      },
    },
  },
  "POST /trace/usage": {
    id: "traceUsage",
    summary: "Get usage and costs of selected calls, including their descendants",
    description:
      "For each call that `filter` and `query` select: its own usage plus that of all its descendants, by LLM. Tokens that " +
      "a producer reports both on a parent and on its children are counted once. A cost is null if no price is known. With " +
      "`own_only`, each call only has what it adds to the total of its trace itself.\n\n" +
      "`trace_roots_only` selects calls that name no parent. A trace whose root was never sent has none, so it is missing from such a " +
      "response, and `x-traces-without-root` counts it. `POST /calls/stream_query` lists its topmost calls (`traces_without_root`), " +
      "and `POST /calls/usage` has their totals.",
    response: "Usage by call and LLM",
    truncated,
    tellsRoots: true,
    example: {
      request: {
        project_id: "acme/demo",
        filter: { trace_roots_only: true },
        query: { $expr: { $gt: [{ $getField: "summary.weave.latency_ms" }, { $literal: 5000 }] } },
        include_costs: true,
      },
      response,
    },
  },
  "POST /calls/usage": {
    id: "callsUsage",
    summary: "Get usage and costs of the given calls, including their descendants",
    description: "As `POST /trace/usage`, for calls that are named by their ids.",
    response: "Usage by call and LLM",
    truncated,
    example: {
      request: {
        project_id: "acme/demo",
        call_ids: ["0198f5e2-0000-7000-8000-000000000001"],
        include_costs: true,
      },
      response,
    },
  },
};
