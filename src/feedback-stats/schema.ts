import { z } from "zod";
import { wholeNumber } from "../http/zod-faults.ts";
import { readInstant } from "../shared/instant.ts";
import { MAX_PATH_CHARS, MAX_PATH_SEGMENTS } from "../shared/payload-path.ts";
import { AGGREGATIONS, allowedAggregations, VALUE_TYPES } from "./metrics.ts";
import { openZone } from "./zone.ts";

const MAX_METRICS = 100;
const MAX_PERCENTILES = 50;
/** A century. */
const MAX_GRANULARITY_SECONDS = 3_155_760_000;
const FIRST_MS = Date.parse("0000-01-01T00:00:00Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Milliseconds since the epoch, of any year that has four digits. */
const instant = z.string().transform((text, context) => {
  const ms = readMs(text);
  if (ms !== undefined && ms >= FIRST_MS && ms <= LAST_MS) return ms;
  context.issues.push({
    code: "custom",
    message: "Input should be an ISO 8601 instant",
    params: { type: "datetime_parsing" },
    input: text,
  });
  return z.NEVER;
});

/** Rounded down. What is finer is cut off the text: microseconds of far years are no exact numbers. */
function readMs(text: string): number | undefined {
  const micros = readInstant(text.replace(/([.,]\d{3})\d+/, "$1"));
  return micros === undefined ? undefined : Math.round(micros / 1000);
}

const jsonPath = z
  .string()
  .max(MAX_PATH_CHARS)
  .superRefine((path, context) => {
    const segments = path.split(".");
    const problem =
      path.trim() === ""
        ? "A path can not be blank"
        : segments.includes("")
          ? "A path can not have an empty segment"
          : segments.length > MAX_PATH_SEGMENTS
            ? `A path has at most ${MAX_PATH_SEGMENTS} segments`
            : undefined;
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  });

const metric = z
  .object({
    json_path: jsonPath,
    value_type: z.enum(VALUE_TYPES).default("numeric"),
    aggregations: z
      .array(z.enum(AGGREGATIONS))
      .max(MAX_METRICS)
      .nullish()
      .transform((names) => names ?? []),
    percentiles: z
      .array(z.number().min(0).max(100))
      .max(MAX_PERCENTILES)
      .nullish()
      .transform((percents) => percents ?? []),
  })
  .superRefine(({ value_type, aggregations }, context) => {
    const allowed: readonly string[] = allowedAggregations[value_type];
    aggregations.forEach((name, index) => {
      if (allowed.includes(name)) return;
      context.addIssue({
        code: "custom",
        path: ["aggregations", index],
        message: `A ${value_type} metric can be asked for ${allowed.join(", ")} only`,
      });
    });
  });

/** `POST /feedback/stats`. Members that are not known are ignored. */
export const statsRequestSchema = z.object({
  project_id: z.string(),
  start: instant,
  end: instant.nullish(),
  feedback_type: z.string().nullish(),
  trigger_ref: z.string().nullish(),
  granularity: wholeNumber().min(1).max(MAX_GRANULARITY_SECONDS).nullish(),
  timezone: z
    .string()
    .default("UTC")
    .transform((given, context) => {
      const name = given === "" ? "UTC" : given;
      const zone = openZone(name);
      if (zone !== undefined) return { name, zone };
      context.issues.push({
        code: "custom",
        message: "Input should be a name of the IANA time zone database",
        input: given,
      });
      return z.NEVER;
    }),
  metrics: z
    .array(metric)
    .max(MAX_METRICS)
    .nullish()
    .transform((metrics) => metrics ?? []),
});
export type StatsRequest = z.output<typeof statsRequestSchema>;

export const statsResponseSchema = z.object({
  start: z.iso.datetime(),
  end: z.iso.datetime(),
  granularity: z.int(),
  timezone: z.string(),
  buckets: z.array(z.object({ timestamp: z.iso.datetime(), count: z.int() }).catchall(z.number().nullable())),
  window_stats: z.record(z.string(), z.record(z.string(), z.number().nullable())),
});
