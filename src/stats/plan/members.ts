import { costFields } from "../../prices/cost-fields.ts";
import { countFields } from "../../usage/count-fields.ts";

/** Members of a total, in response order. */
export const COUNT_MEMBERS = ["calls", "errors", ...countFields.map(({ wire }) => wire)] as const;
export const COST_MEMBERS = [...costFields.map(({ wire }) => wire), "total_cost"] as const;
/** Members with the sum of stated costs and the number of usages that state one; present with costs. */
export const STATED_COST_MEMBER = "stated_cost";
export const CALLS_STATED_MEMBER = "calls_stated";
/** Member that is true if the costs are lower bounds. */
export const PARTIAL_MEMBER = "partial";
