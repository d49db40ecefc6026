import { routeSchemas } from "../../http/openapi/route-text.ts";
import { callsUsageReq, traceUsageReq, traceUsageRes } from "./schema.ts";

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

/** Routes by operation id. */
export const schemas = routeSchemas({
  traceUsage: {
    summary: "Get usage and costs of selected calls, including their descendants",
    description:
      "Returns for each selected call its own usage plus that of all its descendants, by LLM. Tokens that " +
      "a producer reports both on a parent and on its children are counted once. A cost is null if no price is known. With " +
      "`own_only`, each call has its own usage only.\n\n" +
      "`trace_roots_only` selects calls that name no parent. A trace whose root was never sent has none, so it is missing from such a " +
      "response; `POST /traces/query` lists it.",
    success: "Usage by call and LLM",
    truncated,
    body: traceUsageReq,
    example: {
      request: {
        project_id: "acme/demo",
        filter: { trace_roots_only: true },
        query: { $expr: { $gt: [{ $getField: "summary.weave.latency_ms" }, { $literal: 5000 }] } },
        include_costs: true,
      },
      response,
    },
    response: { 200: traceUsageRes },
  },
  callsUsage: {
    summary: "Get usage and costs of the given calls, including their descendants",
    description: "Like `POST /trace/usage`, for calls selected by id.",
    success: "Usage by call and LLM",
    truncated,
    example: {
      request: {
        project_id: "acme/demo",
        call_ids: ["0198f5e2-0000-7000-8000-000000000001"],
        include_costs: true,
      },
      response,
    },
    body: callsUsageReq,
    response: { 200: traceUsageRes },
  },
});
