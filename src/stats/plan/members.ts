import { costFields } from "../../prices/cost-fields.ts";
import { countFields } from "../../usage/count-fields.ts";

/** The members of a total, in the order of its text. */
export const COUNT_MEMBERS = ["calls", "errors", ...countFields.map(({ wire }) => wire)] as const;
export const COST_MEMBERS = [...costFields.map(({ wire }) => wire), "total_cost"] as const;
/** Beside the costs: whether they leave something out. */
export const PARTIAL_MEMBER = "cost_is_lower_bound";
