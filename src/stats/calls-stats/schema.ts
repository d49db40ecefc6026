import { z } from "zod";
import { isoInstant, projectId } from "../../http/schemas/fields.ts";
import { bucketFields, startBeforeEnd } from "../../http/schemas/window-fields.ts";
import { sdkFilter, type SelectionLimits } from "../../query/index.ts";
import { AGGREGATIONS, CALL_METRICS, USAGE_METRICS } from "./metrics.ts";

const MAX_METRICS = 100;

/** Request of `POST /calls/stats`, as the Weave SDKs send it. Unknown members are ignored. */
export function callsStatsRequest(limits: { selection: SelectionLimits; maxPercentiles: number }) {
  const queries = {
    aggregations: z
      .array(z.enum(AGGREGATIONS))
      .max(MAX_METRICS)
      .nullish()
      .transform((names) => names ?? []),
    percentiles: z
      .array(z.number().min(0).max(100))
      .max(limits.maxPercentiles)
      .nullish()
      .transform((percents) => percents ?? []),
  };
  const usageMetric = z.object({ metric: z.enum(USAGE_METRICS), ...queries });
  const callMetric = z.object({ metric: z.enum(CALL_METRICS), ...queries });
  return z
    .object({
      project_id: projectId,
      ...bucketFields,
      filter: sdkFilter(limits.selection).nullish(),
      usage_metrics: z
        .array(usageMetric.meta({ id: "UsageMetric" }))
        .max(MAX_METRICS)
        .nullish()
        .transform((metrics) => metrics ?? []),
      call_metrics: z
        .array(callMetric.meta({ id: "CallMetric" }))
        .max(MAX_METRICS)
        .nullish()
        .transform((metrics) => metrics ?? []),
    })
    .check(startBeforeEnd)
    .meta({ id: "CallsStatsReq" });
}
export type CallsStatsRequest = z.output<ReturnType<typeof callsStatsRequest>>;

const numbers = z.number().nullable();
const timestamp = isoInstant.describe("Where the bucket begins");

/** Used only for OpenAPI: the response is printed by hand. */
export const callsStatsResponse = z
  .object({
    start: isoInstant,
    end: isoInstant,
    granularity: z.int(),
    timezone: z.string(),
    usage_buckets: z
      .array(
        z.object({ timestamp, model: z.string(), count: z.int() }).catchall(z.union([numbers, z.string()])),
      )
      .describe("By bucket and model: `sum_input_tokens`, `p95_total_cost`, …; `count` usages"),
    call_buckets: z
      .array(z.object({ timestamp, count: z.int() }).catchall(z.union([numbers, z.string()])))
      .describe("By bucket: `avg_latency_ms`, `sum_error_count`, …; `count` calls"),
  })
  .meta({ id: "CallsStatsRes" });
