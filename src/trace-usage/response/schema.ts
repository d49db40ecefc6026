import { z } from "zod";
import { anyInteger } from "../../http/schemas/fields.ts";
import { wholeNumber } from "../../http/schemas/zod-issues.ts";
import { callsFilter, callsQuery } from "../../query/read/wire-schema.ts";
import type { TokenCostWire } from "../../prices/cost-fields.ts";
import type { CountWire } from "../../usage/count-fields.ts";

export const DEFAULT_LIMIT = 10_000;
export const MAX_LIMIT = 1_000_000;

const limit = wholeNumber()
  .min(1)
  .max(MAX_LIMIT)
  .default(DEFAULT_LIMIT)
  .describe(
    "Maximum number of selected calls, oldest first. Totals stay exact; `x-truncated` is present if more match.",
  );

const includeCosts = z.boolean().default(false).describe("If true, the response includes costs in USD.");

const fullCosts = z
  .boolean()
  .default(false)
  .describe(
    "With `include_costs`: if true, each entry also has `other_cost`, of units that are not tokens (web searches), and `partial`. With them, entries sum to receipts and `POST /usage/stats`.",
  );

const ownOnly = z
  .boolean()
  .default(false)
  .describe(
    "If true, each call has its own usage only, without its descendants. Over a whole trace, this sums to the total of its roots.",
  );

const count = anyInteger.min(0);
const cost = z.number().nullable().describe("USD; null if costs were not requested or no price is known.");

/** Usage of a call and its descendants for one LLM. */
export const llmUsage = z
  .object({
    requests: count,
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    prompt_tokens_total_cost: cost,
    completion_tokens_total_cost: cost,
    cache_read_input_tokens_total_cost: cost,
    cache_creation_input_tokens_total_cost: cost,
    other_cost: cost.optional().describe("USD, present with `full_costs`; null if no price is known."),
    partial: z.boolean().optional().describe("Present with `full_costs`: true if some usage has no price."),
  } satisfies Record<CountWire | TokenCostWire | "other_cost" | "partial", z.ZodType>)
  .meta({ id: "LLMAggregatedUsage" });

export const traceUsageRes = z
  .object({
    call_usage: z
      .record(z.string(), z.record(z.string(), llmUsage))
      .describe(
        "Per selected call and LLM: its own usage plus that of all its descendants; with `own_only`, its own.",
      ),
    unfinished_call_ids: z
      .array(z.string())
      .describe(
        "Calls without an end among the selected ones and, unless `own_only`, their descendants, sorted.",
      ),
  })
  .meta({ id: "TraceUsageRes" });

export const traceUsageReq = z
  .strictObject({
    project_id: z.string(),
    filter: callsFilter.nullish(),
    query: callsQuery.nullish(),
    include_costs: includeCosts,
    full_costs: fullCosts,
    own_only: ownOnly,
    limit,
  })
  .meta({
    examples: [
      { project_id: "acme/demo", filter: { trace_roots_only: true }, include_costs: true },
      {
        project_id: "acme/demo",
        query: { $expr: { $gt: [{ $getField: "summary.weave.latency_ms" }, { $literal: 5000 }] } },
      },
    ],
  });

export const callsUsageReq = z
  .strictObject({
    project_id: z.string(),
    call_ids: z.array(z.string()).max(10_000),
    include_costs: includeCosts,
    full_costs: fullCosts,
    own_only: ownOnly,
    limit,
  })
  .meta({ id: "CallsUsageReq" });
