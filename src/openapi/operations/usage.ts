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
const response = {
  call_usage: { "0198f5e2-0000-7000-8000-000000000001": { "gpt-4o": usage } },
  unfinished_call_ids: [],
};
const truncated = "more calls match than `limit` allows. The totals of those in the response are complete.";

export const usageOperations: Operations = {
  "POST /trace/usage": {
    id: "traceUsage",
    summary: "What every selected call used and cost, descendants included",
    description:
      "For each call that `filter` and `query` select: its own usage plus that of all its descendants, by LLM. Tokens that " +
      "a producer reports on a parent and on its children are counted once. A cost is null when no price is known.",
    response: "Usage by call and LLM",
    truncated,
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
    summary: "What the given calls used and cost, descendants included",
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
