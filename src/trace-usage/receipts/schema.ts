import { z } from "zod";
import { anyInteger, isoInstant, projectId } from "../../http/schemas/fields.ts";
import { costFields } from "../../prices/cost-fields.ts";
import { USAGE_SOURCES } from "../../calls/events/completion.ts";
import { USAGE_BASES } from "../../calls/events/usage-basis.ts";
import type { CountWire } from "../../usage/count-fields.ts";
import { unitNames } from "../../usage/units.ts";

export const receiptReq = z
  .strictObject({
    project_id: projectId,
    call_id: z.string(),
    trace_id: z.string().nullish().describe("Only needed if calls of several traces have this id"),
  })
  .meta({ id: "ReceiptReq" });

const count = anyInteger.min(0);
const usd = z.number().nullable().describe("USD; null if no price is known");
const statedCost = z
  .number()
  .nullable()
  .describe("What responses state that they cost (USD), beside the cost computed here; null if none does");
const unit = z.enum([
  "uncached_prompt_tokens",
  "completion_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "requests",
  ...unitNames,
]);
const used = z
  .object({
    requests: count,
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    units: z.partialRecord(z.enum(unitNames), count),
    stated_cost: statedCost,
  } satisfies Record<CountWire | "units" | "stated_cost", z.ZodType>)
  .meta({ id: "ReceiptUsage" });

const of = z
  .enum(["own", "below"])
  .describe("`own`: the call's own usage; `below`: the sum over its descendants");
const line = z
  .object({
    of,
    llm: z.string(),
    provider: z.string().nullable(),
    unit,
    cost: z.enum(costFields.map(({ wire }) => wire)).describe("Member of `total` that includes it"),
    quantity: count,
    rate_usd: usd,
    amount_usd: usd,
    price: z
      .object({ source: z.string(), id: z.string(), effective_date: isoInstant.nullable() })
      .nullable()
      .describe("Price applied: the project's own, or an entry of the price list"),
    tier: z.string(),
    tier_decided_by: z.string(),
  })
  .meta({ id: "ReceiptLine" });

const total = z
  .object({
    prompt_tokens_total_cost: usd,
    completion_tokens_total_cost: usd,
    cache_read_input_tokens_total_cost: usd,
    cache_creation_input_tokens_total_cost: usd,
    other_cost: usd,
    total_cost: usd,
    stated_cost: statedCost,
  } satisfies Record<(typeof costFields)[number]["wire"] | "total_cost" | "stated_cost", z.ZodType>)
  .describe("Totals of the call in `/trace/usage` over all LLMs, and units that are not tokens");

const receipt = z
  .object({
    call_id: z.string(),
    trace_id: z.string(),
    started_at: isoInstant,
    usage: z.array(
      z.object({
        llm: z.string(),
        provider: z.string().nullable(),
        service_tier: z.string().nullable().describe("Tier as served; null for the standard tier"),
        cache_convention: z.string(),
        reported: used,
        counted_below: used.describe("Share counted with descendants, which report it themselves"),
        own: used,
      }),
    ),
    usage_basis: z
      .enum(USAGE_BASES)
      .nullable()
      .describe(
        "Basis of reading a span's usage. `producer`: known producer; `words`: only the names of its attributes; `guess`: its " +
          "counts contradict these names. null without usage, or if the call is no span",
      ),
    completion: z
      .object({
        id: z.string(),
        usage_source: z.enum(USAGE_SOURCES).describe("`elsewhere`: see `superseded_by`"),
        call_ids: z.array(z.string()).describe("Calls of the trace that report it"),
        counted_call_id: z.string().describe("Call that counts it"),
      })
      .nullable(),
    superseded_by: z
      .object({ call_id: z.string(), trace_id: z.string() })
      .nullable()
      .describe("Call that counts the request instead, mostly of another trace; null if this call counts"),
    lines: z.array(line).describe("Line items, which sum to `total`"),
    unpriced: z.array(
      line.pick({ of: true, llm: true, provider: true, tier: true, unit: true, quantity: true }),
    ),
    total,
  })
  .meta({ id: "Receipt" });
export type Receipt = z.output<typeof receipt>;
export const receiptRes = receipt;
