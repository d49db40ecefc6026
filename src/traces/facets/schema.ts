import { z } from "zod";
import { anyInteger } from "../../http/schemas/fields.ts";
import { startBeforeEnd } from "../../http/schemas/window-fields.ts";
import { wholeNumber } from "../../http/schemas/zod-issues.ts";
import { oneOfNames } from "../../http/schemas/known-names.ts";
import { tracesFields } from "../selection-schema.ts";
import { FACET_NAMES, planFacets } from "./plan-facets.ts";

const MAX_FIELDS = 12;
const MAX_VALUES = 100;
const DEFAULT_VALUES = 20;

const field = z
  .strictObject({ $getField: z.string() })
  .meta({ id: "TraceField", description: "A field of the root, as the query language names it" });

/** Request of `POST /traces/facets`. */
export const tracesFacetsRequest = z
  .strictObject({
    ...tracesFields,
    fields: z
      .array(z.union([oneOfNames(FACET_NAMES), field]))
      .min(1)
      .max(MAX_FIELDS)
      .transform((requested, context) => {
        const { facets, issues } = planFacets(requested);
        for (const { loc, msg, type } of issues)
          context.addIssue({ code: "custom", path: [...loc], message: msg, params: { type } });
        return facets;
      })
      .describe(
        "`llm`, `provider` and `feedback` (its types) are of any call of the trace; the other fields are the root's",
      ),
    limit: wholeNumber()
      .min(1)
      .max(MAX_VALUES)
      .default(DEFAULT_VALUES)
      .describe("The maximum number of values of a field; `other` counts the rest"),
  })
  .check(startBeforeEnd)
  .meta({ id: "TracesFacetsReq" });

const count = anyInteger.min(0);

export const tracesFacetsResponse = z
  .object({
    facets: z
      .array(
        z.object({
          field: z.string(),
          values: z
            .array(
              z.object({
                value: z
                  .union([z.string(), z.number(), z.boolean()])
                  .nullable()
                  .describe("Null if absent, JSON text if not a scalar; its first 1,000 characters"),
                traces: count,
                total_cost: z.number().nullable().describe("USD, of these traces"),
                partial: z.boolean(),
              }),
            )
            .describe("Most traces first. A trace counts under each of its values"),
          other: count.describe("How many values `limit` leaves out"),
        }),
      )
      .describe("In the order asked for, each without the conditions on its own field"),
  })
  .meta({ id: "TracesFacetsRes" });
