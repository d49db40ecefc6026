import { z } from "zod";
import { bucketFields, startBeforeEnd, windowFields } from "../../http/schemas/window-fields.ts";
import { isoInstant, projectId } from "../../http/schemas/fields.ts";
import { wholeNumber } from "../../http/schemas/zod-issues.ts";
import { payloadPath } from "../../ratings/schema.ts";
import { groupByField, groupKey, groupLimit } from "../../stats/schema.ts";
import { AGGREGATIONS, VALUE_TYPES } from "./metrics.ts";

/** Limits per request. */
export interface StatsLimits {
  readonly maxMetrics: number;
  readonly maxPercentiles: number;
}

/** Request fields that select feedback. */
const selectionFields = {
  project_id: projectId,
  ...windowFields,
  feedback_type: z.string().nullish(),
  trigger_ref: z
    .string()
    .nullish()
    .describe("An exact reference, or one that ends in `:*` for every version"),
};
export type FeedbackSelection = z.output<z.ZodObject<typeof selectionFields>>;

/** List that may be null or absent. */
function listOf<Item extends z.ZodType>(item: Item, most: number) {
  return z
    .array(item)
    .max(most)
    .nullish()
    .transform((items) => items ?? []);
}

function metric({ maxMetrics, maxPercentiles }: StatsLimits) {
  return z
    .object({
      json_path: payloadPath,
      value_type: z.enum(VALUE_TYPES).default("numeric"),
      aggregations: listOf(z.enum(AGGREGATIONS), maxMetrics),
      percentiles: listOf(z.number().min(0).max(100), maxPercentiles),
    })
    .meta({ id: "FeedbackMetric" })
    .superRefine(({ value_type, aggregations }, context) => {
      if (value_type !== "categorical") return;
      const message = "A categorical metric supports only count";
      for (const [index, name] of aggregations.entries())
        if (name !== "count") context.addIssue({ code: "custom", path: ["aggregations", index], message });
    });
}

const MAX_DIMENSIONS = 2;

/** `POST /feedback/stats`. Unknown members are ignored. */
export function statsRequest(limits: StatsLimits) {
  const body = z.object({
    ...selectionFields,
    ...bucketFields,
    metrics: listOf(metric(limits), limits.maxMetrics),
    group_by: groupByField(MAX_DIMENSIONS).describe(
      "Fields of the calls that the feedback is about. `llm` is the one that a call reports the most tokens of",
    ),
    limit: groupLimit,
  });
  return body.check(startBeforeEnd).meta({ id: "FeedbackStatsReq" });
}
export type StatsRequest = z.output<ReturnType<typeof statsRequest>>;

/** `POST /feedback/payload_schema`. */
export const pathsRequestSchema = z
  .object({
    ...selectionFields,
    sample_limit: wholeNumber()
      .min(1)
      .max(5000)
      .default(2000)
      .describe("The number of feedback entries in the sample"),
  })
  .check(startBeforeEnd)
  .meta({ id: "FeedbackPayloadSchemaReq" });

const foundPath = z
  .object({ json_path: z.string(), value_type: z.enum(VALUE_TYPES) })
  .meta({ id: "FeedbackPath" });
export const pathsResponseSchema = z
  .object({ paths: z.array(foundPath).describe("Sorted by path") })
  .meta({ id: "FeedbackPayloadSchemaRes" });

const point = z
  .object({ count: z.int().min(0) })
  .catchall(z.number().nullable())
  .meta({
    id: "FeedbackNumbers",
    description:
      "`count` is the number of feedback entries; each other member is an aggregation of a metric: `avg_output_score`",
  });
const bucket = point
  .extend({
    timestamp: isoInstant.describe("The start of the bucket"),
    groups: z
      .array(point.nullable())
      .optional()
      .describe("With `group_by`: in the order of `groups`; null without feedback"),
    other: point.nullable().optional().describe("With `group_by`"),
  })
  .meta({ id: "FeedbackBucket", description: "As `FeedbackNumbers`, of the bucket" });

const windowStats = z
  .record(z.string(), z.record(z.string(), z.number().nullable()))
  .describe("Over the whole window: by metric, then by aggregation; null if there is no value");
const group = { count: z.int().min(0), window_stats: windowStats };

/** OpenAPI only: the route serializes its response itself. */
export const statsResponseSchema = z
  .object({
    start: isoInstant,
    end: isoInstant,
    granularity: z.int().describe("The bucket size used, in seconds"),
    timezone: z.string(),
    groups: z
      .array(z.object({ key: groupKey, ...group }))
      .optional()
      .describe("With `group_by`: those with the most feedback first, then by key"),
    other: z
      .object({ groups: z.int(), ...group })
      .nullable()
      .optional()
      .describe("With `group_by`: the groups beyond `limit` together; null if there are none"),
    buckets: z.array(bucket),
    window_stats: windowStats,
  })
  .meta({ id: "FeedbackStatsRes" });
