import { z } from "zod";
import { callsFilter, callsQuery, type SelectionLimits } from "../query/index.ts";

/** More calls than this are not streamed in one answer. */
export const MAX_LIMIT = 1_000_000;

const includeCosts = z
  .boolean()
  .nullish()
  .describe("Adds what the call's usage costs, as `summary.weave.costs`.");

/** Members of the SDKs that are not known here are left aside. */
export function streamQueryBody(limits: SelectionLimits) {
  return z.object({
    project_id: z.string(),
    filter: callsFilter(limits).nullish(),
    query: callsQuery(limits).nullish(),
    sort_by: z
      .array(z.object({ field: z.string(), direction: z.enum(["asc", "desc"]) }))
      .max(10)
      .nullish()
      .describe(
        "Default: oldest first, by `started_at` and `id`. Calls that are equal come by `id`: in the direction of `started_at` where it is among the fields, else descending.",
      ),
    limit: z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullish(),
    offset: z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullish(),
    include_costs: includeCosts,
    columns: z
      .array(z.string())
      .max(1000)
      .nullish()
      .describe("Fields to answer with; payloads that none of them is of are left empty."),
  });
}

export function queryStatsBody(limits: SelectionLimits) {
  return z.object({
    project_id: z.string(),
    filter: callsFilter(limits).nullish(),
    query: callsQuery(limits).nullish(),
  });
}

export const callReadBody = z.object({ project_id: z.string(), id: z.string(), include_costs: includeCosts });
