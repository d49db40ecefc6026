import { z } from "zod";
import { instantMicros, isoInstant, projectId } from "../../http/schemas/fields.ts";
import { purgeQuery } from "../../http/schemas/purge-by-id.ts";

/** The maximum number of factors of a project: one receipt reads them all. */
export const MAX_FACTORS = 1_000;

const factor = z
  .number()
  .min(0)
  .max(1_000_000)
  .describe("The factor on list cost: 0.85 for a discount of 15 %, 1.19 for a tax of 19 %");
const provider = z.string().trim().min(1).max(64);

const newFactor = z
  .strictObject({
    provider: provider
      .nullish()
      .describe(
        "The provider whose calls it applies to. Default: all providers without a factor of their own",
      ),
    factor,
    effective_date: instantMicros
      .nullish()
      .describe("Applies to calls that start at this time or later. Default: now"),
    note: z.string().max(1_000).nullish().describe("A note, for example the reason"),
  })
  .meta({ id: "NewCostFactor" });

export const createFactorsBody = z
  .strictObject({ project_id: projectId, factors: z.array(newFactor).min(1).max(MAX_FACTORS) })
  .meta({ id: "CostFactorCreateReq" });
export const createFactorsRes = z
  .object({ ids: z.array(z.string()).describe("In the order of the factors") })
  .meta({ id: "CostFactorCreateRes" });

export const queryFactorsBody = z.strictObject({ project_id: projectId }).meta({ id: "CostFactorQueryReq" });
const listedFactor = z
  .object({
    id: z.string(),
    provider: z
      .string()
      .nullable()
      .describe("The provider's name as in receipts; null for all other providers"),
    factor: z.number(),
    effective_date: isoInstant,
    note: z.string(),
    created_by: z.string(),
    created_at: isoInstant,
  })
  .meta({ id: "CostFactor" });
export const queryFactorsRes = z
  .object({ results: z.array(listedFactor).describe("As they were set") })
  .meta({ id: "CostFactorQueryRes" });

export const purgeFactorsBody = z
  .strictObject({ project_id: projectId, query: purgeQuery })
  .meta({ id: "CostFactorPurgeReq" });
