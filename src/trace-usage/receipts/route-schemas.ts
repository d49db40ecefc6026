import { routeSchemas } from "../../http/openapi/route-text.ts";
import { receiptReq, receiptRes } from "./schema.ts";

const receiptUsage = {
  requests: 1,
  prompt_tokens: 600,
  completion_tokens: 150,
  total_tokens: 750,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  units: {},
  stated_cost: null,
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
  superseded_by: null,
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
    stated_cost: null,
  },
};

/** Routes by operation id. */
export const schemas = routeSchemas({
  callReceipt: {
    summary: "Explain the cost of a call",
    description:
      "Lists one item per unit used by the call and its descendants, with its price and the service tier and request size that " +
      "determined it. The items sum to the call's totals in `POST /trace/usage` and to `other_cost`, of units that are not tokens.",
    success: "Line items with their sources",
    example: {
      request: { project_id: "acme/demo", call_id: "0198f5e2-0000-7000-8000-000000000001" },
      response: receipt,
    },
    body: receiptReq,
    response: { 200: receiptRes },
  },
});
