import { z } from "zod";
import { instantMicros, isoInstant, projectId } from "../../http/schemas/fields.ts";
import { priceQuery } from "../../query/read/wire-schema.ts";
import { isJsonObject } from "../../shared/json.ts";
import { unitNames, type Unit } from "../../usage/units.ts";
import { purgeQuery } from "../../http/schemas/purge-by-id.ts";

/** The maximum number of prices of a project: one response with costs reads them all. */
export const MAX_PRICES = 20_000;

const unit = z.literal("USD").nullish().describe("Prices are in USD, so that they can be added.");
const tokenCost = z.number().min(0).max(1_000_000).describe("USD per token");
const cacheCost = tokenCost
  .nullish()
  .transform((cost) => cost ?? null)
  .describe(
    "USD per token. Not set: cached tokens cost the same as prompt tokens. 0: cached tokens are free.",
  );

const unitCost = z.number().min(0).max(1_000_000).optional();
const unitCosts = z
  .strictObject(
    Object.fromEntries([...unitNames, "requests"].map((name) => [name, unitCost])) as Record<
      Unit | "requests",
      typeof unitCost
    >,
  )
  .describe(
    "USD for one of each unit. Token units that are not set cost the same as other input or output tokens.",
  );

const newPrice = z
  .strictObject({
    prompt_token_cost: tokenCost,
    completion_token_cost: tokenCost,
    cache_read_input_token_cost: cacheCost,
    cache_creation_input_token_cost: cacheCost,
    service_tier: z
      .string()
      .max(64)
      .nullish()
      .describe("The service tier that the price is for, as served. Default: the standard tier"),
    unit_costs: unitCosts.nullish(),
    prompt_token_cost_unit: unit,
    completion_token_cost_unit: unit,
    effective_date: instantMicros
      .nullish()
      .describe("Applies to calls that start at this time or later. Default: now"),
    provider_id: z.string().min(1).max(256).nullish().describe('A note. Default: "default"'),
  })
  .meta({ id: "NewPrice" });
export type PriceMessage = z.output<typeof newPrice>;

/** Sent by the Weave SDKs, always null. */
const ignored = z.string().nullish();

const costs = z.record(z.string().min(1).max(512), newPrice).describe("By LLM id, as reported by calls");
/** JavaScript objects cannot have this name as an ordinary member, so it would be left out silently. */
const namedCosts = z.preprocess((value, context) => {
  if (isJsonObject(value) && Object.hasOwn(value, "__proto__")) {
    context.issues.push({
      code: "custom",
      message: "An LLM cannot have this name",
      path: ["__proto__"],
      params: { type: "value_error" },
      input: value,
    });
  }
  return value;
}, costs);

export const createBody = z
  .strictObject({
    project_id: projectId,
    costs: namedCosts,
    wb_user_id: ignored,
  })
  .meta({ id: "CostCreateReq" });
export const createRes = z
  .object({
    ids: z.array(z.tuple([z.string(), z.string()])).describe("Pairs of a price's id and its LLM id"),
  })
  .meta({ id: "CostCreateRes" });

/** The fields of a price that can be requested. */
const listedFields = {
  id: z.string(),
  llm_id: z.string(),
  provider_id: z.string(),
  effective_date: isoInstant,
  prompt_token_cost: z.number(),
  completion_token_cost: z.number(),
  cache_read_input_token_cost: z.number().nullable(),
  cache_creation_input_token_cost: z.number().nullable(),
  service_tier: z.string(),
  unit_costs: unitCosts,
  prompt_token_cost_unit: z.literal("USD"),
  completion_token_cost_unit: z.literal("USD"),
  created_by: z.string(),
  created_at: isoInstant,
};
export type PriceField = keyof typeof listedFields;
export const priceFields = Object.keys(listedFields) as [PriceField, ...PriceField[]];
const listedPrice = z
  .object(listedFields)
  .partial()
  .meta({ id: "Price", description: "With the requested fields" });

const field = z.enum(priceFields);
const sortBy = z.strictObject({ field, direction: z.enum(["asc", "desc"]) });

export const queryBody = z
  .strictObject({
    project_id: projectId,
    fields: z.array(field).min(1).max(priceFields.length).nullish().describe("Default: all"),
    query: priceQuery().nullish(),
    sort_by: z.array(sortBy).max(priceFields.length).nullish().describe("Default: as they were set"),
    limit: z.int().min(0).max(MAX_PRICES).nullish().describe("Default: all"),
    offset: z.int().min(0).max(MAX_PRICES).nullish(),
  })
  .meta({ id: "CostQueryReq" });
export type PriceQuery = z.output<typeof queryBody>;

export const queryRes = z.object({ results: z.array(listedPrice) }).meta({ id: "CostQueryRes" });
export type ListedPrice = z.output<typeof listedPrice>;

export const purgeBody = z
  .strictObject({
    project_id: projectId,
    query: purgeQuery,
    wb_user_id: ignored,
  })
  .meta({ id: "CostPurgeReq" });
