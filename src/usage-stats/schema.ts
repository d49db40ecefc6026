import { z } from "zod";
import { bucketFields } from "../http/window-fields.ts";
import { anyInteger, isoInstant, projectId } from "../http/fields.ts";
import { wholeNumber } from "../http/zod-issues.ts";
import { callsFilter, callsQuery, type SelectionLimits } from "../query/index.ts";
import { countFields } from "../usage/count-fields.ts";
import { DIMENSION_NAMES } from "./dimensions.ts";
import { LATENCY_AGGREGATIONS } from "./latency.ts";
import { COST_MEMBERS, COUNT_MEMBERS } from "./members.ts";

export const MAX_GROUPS = 1000;
const DEFAULT_GROUPS = 100;
const MAX_DIMENSIONS = 4;

const field = z.strictObject({ $getField: z.string() }).meta({
  id: "UsageStatsField",
  description: "The value of a field of the call, as the query language names it",
  examples: [{ $getField: "attributes.tenant" }],
});

/** `POST /usage/stats`. */
export function usageStatsRequest(limits: { selection: SelectionLimits; maxPercentiles: number }) {
  return z
    .strictObject({
      project_id: projectId,
      ...bucketFields,
      filter: callsFilter(limits.selection).nullish(),
      query: callsQuery(limits.selection).nullish(),
      group_by: z
        .array(z.union([z.enum(DIMENSION_NAMES), field]))
        .max(MAX_DIMENSIONS)
        .nullish()
        .transform((dimensions) => dimensions ?? []),
      include_costs: z.boolean().default(false).describe("When true, costs in USD are included."),
      latency: z
        .strictObject({
          aggregations: z
            .array(z.enum(LATENCY_AGGREGATIONS))
            .max(LATENCY_AGGREGATIONS.length)
            .nullish()
            .transform((names) => names ?? []),
          percentiles: z
            .array(z.number().min(0).max(100))
            .max(limits.maxPercentiles)
            .nullish()
            .transform((percents) => percents ?? []),
        })
        .nullish()
        .describe("Of the calls that have ended, in milliseconds. Neither member: `avg` and `max`"),
      order_by: z
        .string()
        .nullish()
        .describe(
          "The member of a total by which groups are ordered, the largest first. Default: `total_cost` with costs, else `total_tokens`",
        ),
      limit: wholeNumber()
        .min(1)
        .max(MAX_GROUPS)
        .default(DEFAULT_GROUPS)
        .describe("How many groups are shown by themselves; `other` has the rest"),
    })
    .meta({ id: "UsageStatsReq" });
}
export type UsageStatsRequest = z.output<ReturnType<typeof usageStatsRequest>>;

const count = anyInteger.min(0);
const cost = z.number().nullable().optional();
const counts = Object.fromEntries(countFields.map(({ wire }) => [wire, count]));

const total = z
  .object({
    ...Object.fromEntries(COUNT_MEMBERS.map((name) => [name, count])),
    ...Object.fromEntries(COST_MEMBERS.map((name) => [name, cost])),
    latency_ms: z.record(z.string(), z.number().nullable()).optional(),
  })
  .meta({
    id: "UsageTotal",
    description:
      "Calls, and what they themselves used. Costs (USD) are there when they were asked for; null where no price is known",
  });

const key = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).nullable())
  .describe("By the names of the groups; null for what is absent, JSON text for what is no scalar");

/** Described, not used: the text is written by hand. */
export const usageStatsResponse = z
  .object({
    start: isoInstant,
    end: isoInstant,
    granularity: z.int().describe("Seconds; what the buckets were made with"),
    timezone: z.string(),
    groups: z.array(z.object({ key, total })).describe("The largest first"),
    other: z
      .object({ groups: z.int(), total })
      .nullable()
      .describe("The groups beyond `limit`, together; null when there are none"),
    total,
    buckets: z.array(
      z
        .object({
          timestamp: z.string().describe("Where the bucket begins: ISO 8601"),
          total,
          groups: z.array(total.nullable()).describe("In the order of `groups`; null without calls"),
          other: total.nullable(),
        })
        .meta({ id: "UsageBucket" }),
    ),
    unpriced: z
      .array(
        z.object({
          llm: z.string(),
          provider: z.string().nullable().describe("Who served it; null where nobody knows"),
          service_tier: z.string().nullable().describe("As it was served; null: the usual one"),
          ...counts,
          units: z.record(z.string(), count).describe("What has no price beside plain tokens"),
        }),
      )
      .nullable()
      .describe("What the sums of costs leave out, by what has no price; null without costs"),
  })
  .meta({ id: "UsageStatsRes" });
