import { z } from "zod";
import { anyInteger, isoInstant } from "../../http/schemas/fields.ts";
import { startBeforeEnd } from "../../http/schemas/window-fields.ts";
import { wholeNumber } from "../../http/schemas/zod-issues.ts";
import { oneOfNames } from "../../http/schemas/known-names.ts";
import { tracesFields } from "../selection-schema.ts";
import { TRACE_VALUES } from "../trace-values.ts";

export const MAX_TRACES = 500;
const DEFAULT_TRACES = 50;

/** Request of `POST /traces/query`. */
export const tracesQueryRequest = z
  .strictObject({
    ...tracesFields,
    order_by: oneOfNames(TRACE_VALUES)
      .default("started_at")
      .describe("Sorts the whole selection; unknown values are last, equal ones are sorted by trace id"),
    direction: oneOfNames(["desc", "asc"]).default("desc"),
    limit: wholeNumber()
      .min(1)
      .max(MAX_TRACES)
      .default(DEFAULT_TRACES)
      .describe("The maximum number of traces in the response"),
    page_token: z.string().nullish().describe("`next_page_token` of the previous page of the same request"),
  })
  .check(startBeforeEnd)
  .meta({ id: "TracesQueryReq" });

const count = anyInteger.min(0);
const text = z.string().nullable();
const figures = {
  calls: count,
  failed: count.describe("Calls with an exception"),
  unfinished: count.describe("Calls that have not ended"),
  total_tokens: count,
  total_cost: z.number().nullable().describe("USD, `other_cost` included; null if nothing used has a price"),
  partial: z.boolean().describe("True if something used has no price, so that costs are lower bounds"),
  wasted_cost: z
    .number()
    .nullable()
    .describe("USD: own cost of failed calls and of the calls below them, each completion once"),
};

const root = z
  .object({
    id: z.string(),
    op_name: text,
    display_name: text,
    started_at: isoInstant,
    ended_at: isoInstant.nullable(),
    svc_user_id: text,
    thread_id: text,
    exception: text.describe("Its first 1,000 characters"),
    input_preview: text.describe(
      "Last user message of the inputs, or their first text: 200 characters; null above 256 KiB",
    ),
    output_preview: text.describe(
      "Last assistant message of the output, or its first text: 200 characters; null above 256 KiB",
    ),
  })
  .nullable()
  .meta({
    id: "TraceRoot",
    description: "The earliest call without a parent; null if the trace has none",
  });

const trace = z
  .object({
    trace_id: z.string(),
    root,
    ...figures,
    models: z.array(z.string()).describe("LLMs with own usage, the one with most tokens first"),
    latency_ms: z.number().nullable().describe("Of the root; null while it runs"),
    feedback: z
      .array(
        z.object({
          feedback_type: z.string(),
          count,
          avg: z
            .number()
            .optional()
            .describe("Mean of the first number of each payload; of booleans, the rate of `true`"),
        }),
      )
      .describe("On all calls of the trace"),
  })
  .meta({ id: "Trace", description: "A trace with the figures of all its calls, whenever they started" });

export const tracesQueryResponse = z
  .object({
    traces: z.array(trace),
    total: z.object({ traces: count, ...figures }).describe("Of all selected traces, on this page or not"),
    next_page_token: text.describe("Null: there are no more"),
  })
  .meta({ id: "TracesQueryRes" });
