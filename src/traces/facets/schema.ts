import { z } from "zod";
import { anyInteger, isoInstant } from "../../http/schemas/fields.ts";
import { startBeforeEnd } from "../../http/schemas/window-fields.ts";
import { wholeNumber } from "../../http/schemas/zod-issues.ts";
import type { SelectionLimits } from "../../query/index.ts";
import { oneOfNames } from "../known-names.ts";
import { field } from "../schema.ts";
import { tracesFields } from "../trace-selection.ts";
import { FACET_NAMES, planFacets } from "./plan-facets.ts";

const MAX_FACETS = 12;
const MAX_VALUES = 1000;
const DEFAULT_VALUES = 10;
const MAX_TEXT = 200;

/** Request of `POST /trace/facets`. */
export function traceFacetsRequest(limits: SelectionLimits) {
  return z
    .strictObject({
      ...tracesFields(limits),
      facets: z
        .array(z.union([oneOfNames(FACET_NAMES), field]))
        .min(1)
        .max(MAX_FACETS)
        .transform((requested, context) => {
          const { facets, issues } = planFacets(requested);
          for (const { loc, msg, type } of issues)
            context.addIssue({ code: "custom", path: [...loc], message: msg, params: { type } });
          return facets;
        })
        .describe("`status` and `op_name` are the root's; the other names are of any call of the trace"),
      contains: z
        .string()
        .min(1)
        .max(MAX_TEXT)
        .nullish()
        .describe("Only values with this text in them, whatever the case of letters"),
      limit: wholeNumber()
        .min(1)
        .max(MAX_VALUES)
        .default(DEFAULT_VALUES)
        .describe("The maximum number of values of a facet; `other` counts the rest"),
    })
    .check(startBeforeEnd)
    .meta({ id: "TraceFacetsReq" });
}

const count = anyInteger.min(0);

export const traceFacetsResponse = z
  .object({
    start: isoInstant,
    end: isoInstant,
    traces: count.describe("How many match"),
    facets: z
      .array(
        z.object({
          facet: z.string(),
          values: z.array(
            z.object({
              value: z
                .union([z.string(), z.number(), z.boolean()])
                .nullable()
                .describe("Null if absent, JSON text if not a scalar; of a list, each item"),
              traces: count,
            }),
          ),
          other: z
            .object({ values: count, traces: count })
            .describe("What `limit` leaves out. A trace counts once under each of its values"),
        }),
      )
      .describe("In the order asked for; of each the most frequent values first"),
  })
  .meta({ id: "TraceFacetsRes" });
export type TraceFacets = z.output<typeof traceFacetsResponse>;
