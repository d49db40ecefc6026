import { z } from "zod";
import { bucketFields, startBeforeEnd } from "../http/schemas/window-fields.ts";
import { anyCall } from "../http/schemas/any-call.ts";
import { anyInteger, isoInstant, projectId } from "../http/schemas/fields.ts";
import { oneOfNames } from "../http/schemas/known-names.ts";
import { whenValid, wholeNumber } from "../http/schemas/zod-issues.ts";
import { callsFilter, callsQuery } from "../query/read/wire-schema.ts";
import { ratingCondition } from "../ratings/schema.ts";
import { countFields } from "../usage/count-fields.ts";
import { DIMENSION_NAMES, planDimensions, type DimensionName, type Dimensions } from "./plan/dimensions.ts";
import { LATENCY_AGGREGATIONS, orders, type RequestedOrder } from "./plan/order.ts";
import { SUBJECTS, totalMembers, type Subject } from "../usage-rollup/total-members.ts";

export const MAX_GROUPS = 1000;
const DEFAULT_GROUPS = 100;
const MAX_DIMENSIONS = 4;

const field = z.strictObject({ $getField: z.string() }).meta({
  id: "UsageStatsField",
  description: "The value of a field of the call, as the query language names it",
  examples: [{ $getField: "attributes.tenant" }],
});

/** Field for up to `most` group-by dimensions, the named ones of `names`; its output is a plan of them. */
export function groupByField(most: number, names: readonly DimensionName[] = DIMENSION_NAMES) {
  return z
    .array(z.union([z.enum(names), field]))
    .max(most)
    .nullish()
    .transform((requested, context) => {
      const { dimensions, issues } = planDimensions(requested ?? []);
      for (const { loc, msg, type } of issues) {
        context.addIssue({ code: "custom", path: [...loc], message: msg, params: { type } });
      }
      return dimensions;
    });
}

/** Field for the maximum number of groups in a response. */
export const groupLimit = wholeNumber()
  .min(1)
  .max(MAX_GROUPS)
  .default(DEFAULT_GROUPS)
  .describe("The maximum number of groups; `other` contains the rest");

/** Request of `POST /usage/stats`. */
export function usageStatsRequest(maxPercentiles: number) {
  return z
    .strictObject({
      project_id: projectId,
      ...bucketFields,
      of: oneOfNames(SUBJECTS)
        .nullish()
        .transform((of) => of ?? "calls")
        .describe(
          "`calls` (default): each call adds its own usage. `traces`: each trace adds its whole usage where its root belongs; " +
            "`filter`, `query`, `group_by` and `latency` are of the root",
        ),
      filter: callsFilter.nullish(),
      query: callsQuery.nullish(),
      any_call: anyCall.nullish().describe("Of at least one call of a trace"),
      group_by: groupByField(MAX_DIMENSIONS),
      include_costs: z.boolean().default(false).describe("If true, the response includes costs in USD."),
      outcome: ratingCondition
        .nullish()
        .describe(
          "Adds `rated`, `passed` and, with costs, `cost_per_passed` to totals: of the calls that feedback rates, or of the traces whose root it rates",
        ),
      latency: z
        .strictObject({
          aggregations: z
            .array(z.enum(LATENCY_AGGREGATIONS))
            .max(LATENCY_AGGREGATIONS.length)
            .nullish()
            .transform((names) => names ?? []),
          percentiles: z
            .array(z.number().min(0).max(100))
            .max(maxPercentiles)
            .nullish()
            .transform((percents) => percents ?? []),
        })
        .nullish()
        .describe("Of ended calls, in milliseconds. Default: `avg` and `max`"),
      order_by: z
        .string()
        .nullish()
        .describe(
          "The member of the total that groups are sorted by, largest first. Default: `total_cost` with costs, or else `total_tokens`",
        ),
      limit: groupLimit,
    })
    .check(startBeforeEnd, knownOrder, ofSubject)
    .meta({ id: "UsageStatsReq" });
}

const knownOrder = z.superRefine<RequestedOrder>(
  (request, context) => {
    const known = orders(request);
    if (request.order_by == null || known.has(request.order_by)) return;
    const message = `Input should be a member of a total: ${[...known.keys()].join(", ")}`;
    context.addIssue({ code: "custom", path: ["order_by"], message, params: { type: "literal_error" } });
  },
  whenValid("of", "order_by", "include_costs", "outcome", "latency"),
);

/** Refuses members that are of traces alone, or of calls alone. */
const ofSubject = z.superRefine<{ of: Subject; any_call?: object | null | undefined; group_by: Dimensions }>(
  ({ of, any_call, group_by }, context) => {
    const refuse = (path: (string | number)[], message: string): void =>
      context.addIssue({ code: "custom", path, message, params: { type: "value_error" } });
    if (of === "calls" && any_call != null)
      refuse(["any_call"], 'any_call selects traces: use it with "of": "traces"');
    if (of === "calls") return;
    for (const [place, { label, source }] of group_by.all.entries())
      if (source !== "call")
        refuse(["group_by", place], `A trace has several: use ${label} with "of": "calls"`);
  },
  whenValid("of", "any_call", "group_by"),
);

export type UsageStatsRequest = z.output<ReturnType<typeof usageStatsRequest>>;

const count = anyInteger.min(0);
const counts = Object.fromEntries(countFields.map(({ wire }) => [wire, count]));

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  stated_cost:
    "With costs: what responses state that they cost (USD), beside the costs computed here; null if none does",
  calls_stated: "With costs: how many calls state a cost",
  partial:
    "With costs: whether something of this total has no price, so that it cost more than its costs say",
  wasted_cost: "Of traces, with costs: what failed calls and the calls below them cost (USD)",
  rated:
    "With `outcome`: the calls, or traces, that feedback rates; a call counts in the group in which it counts as a call",
  passed: "With `outcome`: those of them that meet the condition",
  cost_per_passed:
    "With `outcome` and costs: what all that are rated cost, by one that passed (USD); null if none passed, or none has a price",
  cost_per_trace: "Of traces, with costs: `total_cost` by trace (USD); null without traces or a price",
};
const isAlways = (name: string): boolean =>
  totalMembers({ of: "calls", withCosts: false, withOutcome: false }).some((member) => member.name === name);

const total = z
  .object({
    ...Object.fromEntries(
      totalMembers({ of: "traces", withCosts: true, withOutcome: true }).map(({ name, kind }) => {
        const value = kind === "count" ? count : kind === "partial" ? z.boolean() : z.number().nullable();
        const member = isAlways(name) ? value : value.optional();
        return [name, name in DESCRIPTIONS ? member.describe(DESCRIPTIONS[name]!) : member];
      }),
    ),
    latency_ms: z.record(z.string(), z.number().nullable()).optional(),
  })
  .meta({
    id: "UsageTotal",
    description:
      "The number of calls and their own usage; of `traces`, all of it; `traces_failed` have a root that failed, `traces_with_failures` any call. Costs (USD) are present if requested, and null if no price is known",
  });

/** Schema for the key of a group. */
export const groupKey = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).nullable())
  .describe("By group name; null if absent, JSON text if not a scalar");

/** Used only for OpenAPI: the response is printed by hand. */
export const usageStatsResponse = z
  .object({
    start: isoInstant,
    end: isoInstant,
    granularity: z.int().describe("The bucket size used, in seconds"),
    timezone: z.string(),
    groups: z.array(z.object({ key: groupKey, total })).describe("The largest first"),
    other: z
      .object({ groups: z.int(), total })
      .nullable()
      .describe("The sum of the groups beyond `limit`; null if there are none"),
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
          provider: z.string().nullable().describe("Who served it; null if unknown"),
          service_tier: z.string().nullable().describe("As served; null: the standard tier"),
          ...counts,
          units: z.record(z.string(), count).describe("Units other than plain tokens that have no price"),
        }),
      )
      .nullable()
      .describe("The usage that the cost sums leave out because it has no price; null without costs"),
  })
  .meta({ id: "UsageStatsRes" });
