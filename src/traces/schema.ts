import { z } from "zod";
import { anyInteger, isoInstant } from "../http/schemas/fields.ts";
import { startBeforeEnd } from "../http/schemas/window-fields.ts";
import { whenValid, wholeNumber } from "../http/schemas/zod-issues.ts";
import type { SelectionLimits } from "../query/index.ts";
import { COST_MEMBERS, COUNT_MEMBERS } from "../stats/plan/members.ts";
import { knownMembers, oneOfNames } from "./known-names.ts";
import { range, STATUSES, tracesFields } from "./trace-selection.ts";
import { KEY_NAMES, rootKey } from "./plan/root-key.ts";

export const MAX_ROWS = 500;
const DEFAULT_ROWS = 100;
/** Sort keys of traces. */
export const ORDERS = ["started_at", "total_cost", "total_tokens", "latency_ms", "calls", "errors"] as const;
export type TraceOrder = (typeof ORDERS)[number];
/** Totals of a trace that can be filtered, besides its start. */
export const TOTALS = ["total_cost", "total_tokens", "latency_ms", "calls", "errors", "unfinished"] as const;
export type TotalName = (typeof TOTALS)[number];

/** Field of the root of a trace. */
export const field = z
  .strictObject({ $getField: z.string() })
  .meta({ id: "TraceField", description: "A field of the root, as the query language names it" });

/** Request of `POST /trace/query`. */
export function tracesQueryRequest(limits: SelectionLimits) {
  return z
    .strictObject({
      ...tracesFields(limits),
      totals: knownMembers(
        Object.fromEntries(TOTALS.map((name) => [name, range.nullish()])) as Record<
          TotalName,
          z.ZodOptional<z.ZodNullable<typeof range>>
        >,
      )
        .meta({ id: "TraceTotals" })
        .nullish()
        .describe("What the whole trace comes to. What is unknown matches no condition"),
      order_by: oneOfNames(ORDERS)
        .default("started_at")
        .describe("Over the whole window; what is unknown comes last"),
      direction: z.enum(["desc", "asc"]).default("desc"),
      limit: wholeNumber()
        .min(1)
        .max(MAX_ROWS)
        .default(DEFAULT_ROWS)
        .describe("The maximum number of traces in the response"),
      page_token: z.string().nullish().describe("`next_page_token` of the previous page of the same request"),
      include_costs: z.boolean().default(false).describe("If true, the response includes costs in USD."),
      group_by: z
        .union([oneOfNames(KEY_NAMES), field])
        .nullish()
        .transform((requested, context) => {
          if (requested == null) return undefined;
          const key = rootKey(requested);
          if ("kind" in key) return key;
          for (const { loc, msg, type } of key)
            context.addIssue({ code: "custom", path: [...loc], message: msg, params: { type } });
          return undefined;
        })
        .describe("Adds `groups` to the total: what whole traces come to by a value of their roots"),
      include_total: z
        .boolean()
        .default(true)
        .describe("If false, `total` is null; sorted by `started_at` the response then comes sooner"),
    })
    .check(startBeforeEnd, costsRequested)
    .meta({ id: "TracesQueryReq" });
}

interface CostsRequested {
  readonly include_costs: boolean;
  readonly order_by: TraceOrder;
  readonly totals?: { readonly total_cost?: unknown } | null | undefined;
}

const costsRequested = z.superRefine<CostsRequested>(
  ({ include_costs, order_by, totals }, context) => {
    const message = "Costs need include_costs";
    if (include_costs) return;
    if (order_by === "total_cost") context.addIssue({ code: "custom", path: ["order_by"], message });
    if (totals?.total_cost != null)
      context.addIssue({ code: "custom", path: ["totals", "total_cost"], message });
  },
  whenValid("order_by", "include_costs", "totals"),
);

export type TracesQueryRequest = z.output<ReturnType<typeof tracesQueryRequest>>;

const count = anyInteger.min(0);
const cost = z.number().nullable().optional();
const total = z
  .object({
    ...Object.fromEntries(COUNT_MEMBERS.map((name) => [name, count])),
    ...Object.fromEntries(COST_MEMBERS.map((name) => [name, cost])),
  })
  .meta({
    id: "TraceTotal",
    description:
      "Calls and what they used, each completion once. Costs (USD) are present if requested, and null if no price is known",
  });

const unpriced = z
  .array(z.object({ llm: z.string(), provider: z.string().nullable(), service_tier: z.string().nullable() }))
  .nullable()
  .describe(
    "What the cost sums leave out because it has no price: they are lower bounds. Null without costs",
  );

const text = z.string().nullable();

const row = z
  .object({
    trace_id: z.string(),
    call_id: z.string().describe("The root; of a trace without one, the call that started first"),
    has_root: z.boolean(),
    roots: count.describe("How many calls have no parent"),
    op_name: text,
    display_name: text,
    started_at: isoInstant.describe("Of the call `call_id`"),
    ended_at: isoInstant.nullable(),
    latency_ms: z.number().nullable().describe("Of the call `call_id`; null if it has not ended"),
    status: z.enum(STATUSES),
    exception: text.describe("Its first 200 characters"),
    thread_id: text,
    svc_user_id: text,
    svc_user_ids: z.array(z.string()).describe("Of all calls, up to ten"),
    inputs_start: text.describe("The first 300 characters of the inputs, which are JSON"),
    unfinished: count.describe("Calls that have not ended"),
    models: z.array(z.string()).describe("The LLMs that were used, the one with most tokens first"),
    total: total.describe("Of all calls of the trace, whenever they started"),
    failed: total.describe("Of those that failed, what they used themselves"),
    unpriced,
  })
  .meta({ id: "TraceRow" });

export const tracesQueryResponse = z
  .object({
    start: isoInstant,
    end: isoInstant,
    traces: z.array(row),
    total: z
      .object({
        traces: count,
        failed_traces: count.describe("Those in which a call failed"),
        unfinished_traces: count.describe("Those in which a call has not ended"),
        total,
        unpriced,
        groups: z
          .object({
            values: z
              .array(
                z.object({
                  value: z
                    .union([z.string(), z.number(), z.boolean()])
                    .nullable()
                    .describe("Null if absent, JSON text if not a scalar"),
                  traces: count,
                  total,
                }),
              )
              .describe("The largest first, up to 100"),
            other: z
              .object({ values: count, traces: count, total })
              .nullable()
              .describe("The sum of the others; null if there are none"),
          })
          .nullable()
          .describe("By the value that `group_by` names; null if it names none"),
      })
      .nullable()
      .describe("Of all traces that match, on this page or not"),
    next_page_token: text.describe("Null: there are no more"),
  })
  .meta({ id: "TracesQueryRes" });
