import { z } from "zod";
import { openZone } from "../buckets/zone.ts";
import { projectId } from "../http/schemas/fields.ts";
import { knownMembers, oneOfNames } from "../http/schemas/known-names.ts";
import { wholeNumber, whenValid } from "../http/schemas/zod-issues.ts";
import { EACH, SCOPES, WINDOWS, type Limit, type Scope } from "./budget.ts";
import { attodollarsIn } from "./usd.ts";

const MAX_NAME_CHARS = 200;
const MAX_MATCH_CHARS = 1024;
const MAX_USD = 1e12;
const MAX_ALERTS = 20;
/** A fraction above 1 tells of what was recorded beyond a limit. */
const MAX_FRACTION = 100;
const DEFAULT_ALERTS = [0.5, 0.8, 1];

const name = z.string().max(MAX_NAME_CHARS).nullish().describe("For people");
const count = wholeNumber().min(0).max(Number.MAX_SAFE_INTEGER).nullish();
const limit = knownMembers({
  usd: z.number().min(0).max(MAX_USD).nullish().describe("Dollars"),
  tokens: count.describe("Input and output"),
  requests: count,
})
  .transform(({ usd, tokens, requests }): Limit => ({
    usd: usd == null ? null : attodollarsIn(usd),
    tokens: tokens ?? null,
    requests: requests ?? null,
  }))
  .describe("Absent or null: no limit. 0: nothing passes");
const window = oneOfNames(WINDOWS)
  .nullish()
  .describe("The local time that the limit is for; a week begins on Monday. Null: for ever");
const timezone = z
  .string()
  .refine((text) => text === "" || openZone(text) !== undefined, {
    error: "Input should be a name of the IANA time zone database",
  })
  .transform((text) => (text === "" ? "UTC" : text));
const unknownPrice = oneOfNames(["refuse", "count_only"] as const);
const alerts = z
  .array(z.number().gt(0).max(MAX_FRACTION))
  .max(MAX_ALERTS)
  .transform((fractions) => [...new Set(fractions)].toSorted((one, other) => one - other))
  .describe("Fractions of the limit at which an alert is sent");

const knownMatch = z.superRefine<{ project_id: string; scope: Scope; match: string }>(
  ({ project_id: project, scope, match }, context) => {
    if (scope !== "project" || match === EACH || match === project) return;
    const message = 'A budget of the project is for all of it: leave match out, or use "*"';
    context.addIssue({ code: "custom", path: ["match"], message, params: { type: "value_error" } });
  },
  whenValid("project_id", "scope", "match"),
);

export const createBody = knownMembers({
  project_id: projectId,
  name,
  scope: oneOfNames(SCOPES).describe("What the limit is for; `api_key`: by the id of the key"),
  match: z
    .string()
    .min(1)
    .max(MAX_MATCH_CHARS)
    .default(EACH)
    .describe('A value of the scope; `"*"`: each value by itself'),
  limit,
  window,
  timezone: timezone.default("UTC"),
  on_unknown_price: unknownPrice
    .default("refuse")
    .describe("What a limit in dollars does with a model or tier without a known price"),
  alerts: alerts.default(DEFAULT_ALERTS),
})
  .check(knownMatch)
  .meta({ id: "BudgetCreateReq" });

export const updateBody = knownMembers({
  project_id: projectId,
  id: z.string(),
  name,
  limit: limit.optional(),
  window,
  timezone: timezone.optional(),
  on_unknown_price: unknownPrice.optional(),
  alerts: alerts.optional(),
}).meta({ id: "BudgetUpdateReq" });

export const queryBody = knownMembers({
  project_id: projectId,
  ids: z.array(z.string()).max(1000).nullish().describe("These alone"),
}).meta({ id: "BudgetQueryReq" });

export const deleteBody = knownMembers({ project_id: projectId, id: z.string() }).meta({
  id: "BudgetDeleteReq",
});

const amounts = z
  .object({ usd: z.number(), tokens: z.number(), requests: z.number() })
  .meta({ id: "BudgetAmounts" });
const limitRes = z
  .object({ usd: z.number().nullable(), tokens: z.number().nullable(), requests: z.number().nullable() })
  .meta({ id: "BudgetLimit" });
const resets = z.string().nullable().describe("When the window ends; null: never");

export const budgetRes = z
  .object({
    id: z.string(),
    project_id: z.string(),
    name: z.string().nullable(),
    scope: z.enum(SCOPES),
    match: z.string(),
    limit: limitRes,
    window: z.enum(WINDOWS).nullable(),
    timezone: z.string(),
    on_unknown_price: z.enum(["refuse", "count_only"]),
    alerts: z.array(z.number()),
  })
  .meta({ id: "Budget" });

const spent = amounts.describe("Recorded usage of the window, as `/usage/stats` says");
const held = amounts.describe("The most that open requests may use");

export const queryRes = z
  .object({
    budgets: z.array(
      budgetRes
        .extend({
          spent: spent.describe(
            "Recorded usage of the window, as `/usage/stats` says; of `*`, of all values",
          ),
          held,
          resets_at: resets,
          unpriced_requests: z.number().describe("Requests without a known price, whose dollars count as 0"),
          values: z
            .array(z.object({ value: z.string(), spent, held, resets_at: resets }))
            .optional()
            .describe("Of `*`: each value with usage in the window, the largest first"),
        })
        .meta({ id: "BudgetState" }),
    ),
  })
  .meta({ id: "BudgetQueryRes" });
