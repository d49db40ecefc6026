import { z } from "zod";
import { bucketFields, startBeforeEnd } from "../../http/schemas/window-fields.ts";
import { isoInstant } from "../../http/schemas/fields.ts";
import { wholeNumber } from "../../http/schemas/zod-issues.ts";
import { MAX_PATH_CHARS, MAX_PATH_SEGMENTS } from "../../query/fields/json-path.ts";
import { AGGREGATIONS, allowedAggregations, VALUE_TYPES } from "./metrics.ts";
import { feedbackWindowFields } from "./window.ts";

/** Limits per request. */
export interface StatsLimits {
  readonly maxMetrics: number;
  readonly maxPercentiles: number;
}

const jsonPath = z
  .string()
  .max(MAX_PATH_CHARS)
  .superRefine((path, context) => {
    const segments = path.split(".");
    const problem =
      path.trim() === ""
        ? "A path cannot be blank"
        : segments.includes("")
          ? "A path cannot have an empty segment"
          : segments.length > MAX_PATH_SEGMENTS
            ? `A path may have at most ${MAX_PATH_SEGMENTS} segments`
            : undefined;
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  });

function metric({ maxMetrics, maxPercentiles }: StatsLimits) {
  return z
    .object({
      json_path: jsonPath,
      value_type: z.enum(VALUE_TYPES).default("numeric"),
      aggregations: z
        .array(z.enum(AGGREGATIONS))
        .max(maxMetrics)
        .nullish()
        .transform((names) => names ?? []),
      percentiles: z
        .array(z.number().min(0).max(100))
        .max(maxPercentiles)
        .nullish()
        .transform((percents) => percents ?? []),
    })
    .meta({ id: "FeedbackMetric" })
    .superRefine(({ value_type, aggregations }, context) => {
      const allowed: readonly string[] = allowedAggregations[value_type];
      aggregations.forEach((name, index) => {
        if (allowed.includes(name)) return;
        context.addIssue({
          code: "custom",
          path: ["aggregations", index],
          message: `A ${value_type} metric supports only ${allowed.join(", ")}`,
        });
      });
    });
}

/** `POST /feedback/stats`. Unknown members are ignored. */
export function statsRequest(limits: StatsLimits) {
  const body = z.object({
    ...feedbackWindowFields,
    ...bucketFields,
    metrics: z
      .array(metric(limits))
      .max(limits.maxMetrics)
      .nullish()
      .transform((metrics) => metrics ?? []),
  });
  return body.check(startBeforeEnd).meta({ id: "FeedbackStatsReq" });
}
export type StatsRequest = z.output<ReturnType<typeof statsRequest>>;

/** `POST /feedback/payload_schema`. */
export const pathsRequestSchema = z
  .object({
    ...feedbackWindowFields,
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

const bucket = z
  .object({
    timestamp: isoInstant.describe("The start of the bucket"),
    count: z.int().min(0),
  })
  .catchall(z.number().nullable())
  .meta({
    id: "FeedbackBucket",
    description:
      "`count` is the number of feedback entries; each other member is an aggregation of a metric: `avg_output_score`",
  });

/** OpenAPI only: the route serializes its response itself. */
export const statsResponseSchema = z
  .object({
    start: isoInstant,
    end: isoInstant,
    granularity: z.int().describe("The bucket size used, in seconds"),
    timezone: z.string(),
    buckets: z.array(bucket),
    window_stats: z
      .record(z.string(), z.record(z.string(), z.number().nullable()))
      .describe("Over the whole window: by metric, then by aggregation; null if there is no value"),
  })
  .meta({ id: "FeedbackStatsRes" });
