import { z } from "zod";
import { feedbackFields, priceFields, type FieldResolver } from "../fields/fields.ts";
import { OPERAND_ID, operandSchema, OPERATION_ID, operationSchema, querySchema } from "./json-schema.ts";
import { readQuery } from "./read-query.ts";

/** Maximum items of an array in a filter. */
const MAX_FILTER_MEMBERS = 10_000;
const WILDCARD = "Exact, or `name:*` for all that begins with `name:`.";

function list(meaning: string) {
  return z.array(z.string()).max(MAX_FILTER_MEMBERS).nullish().describe(meaning);
}

/** Selects calls: all members must match, and any item of a list. Null or absent is no condition. */
export const callsFilter = z
  .strictObject({
    op_names: list(`Names of operations. ${WILDCARD}`),
    input_refs: list(`Refs that stand anywhere in the inputs. ${WILDCARD}`),
    output_refs: list(`Refs that stand anywhere in the output. ${WILDCARD}`),
    parent_ids: list("Ids of the calls directly above."),
    trace_ids: list("Traces, all of their calls."),
    call_ids: list("These calls."),
    thread_ids: list("Threads. An empty list matches nothing."),
    turn_ids: list("Turns of a thread. An empty list matches nothing."),
    trace_roots_only: z.boolean().nullish().describe("Only calls without a parent."),
    svc_user_ids: list("Users who made the calls."),
    svc_run_ids: list("Runs the calls belong to."),
  })
  .meta({ id: "CallsFilter" });

export type CallsFilter = z.infer<typeof callsFilter>;

z.unknown().meta({ id: OPERAND_ID, ...operandSchema });
z.unknown().meta({ id: OPERATION_ID, ...operationSchema });

/** A query over calls, unchecked: the compiler checks it. */
export const callsQuery = checkedQuery().meta({ id: "Query", ...querySchema });

const likeQuery = { anyOf: [{ $ref: "#/components/schemas/Query" }] };

/** A query over feedback. */
export function feedbackQuery() {
  return checkedQuery(feedbackFields).meta(likeQuery);
}

/** A query over the prices of a project. */
export function priceQuery() {
  return checkedQuery(priceFields).meta(likeQuery);
}

function checkedQuery(fields?: FieldResolver) {
  return z.unknown().superRefine((query, context) => {
    const read = readQuery(query, fields);
    if (read.ok) return;
    for (const { loc, msg, type } of read.issues) {
      context.addIssue({ code: "custom", path: loc.slice(1), message: msg, params: { type } });
    }
  });
}

/** The filter as the Weave SDKs send it: `wb_user_ids` and `wb_run_ids` are `svc_user_ids` and `svc_run_ids`. */
export const sdkFilter = callsFilter
  .extend({
    wb_user_ids: list("The Weave SDKs' name for svc_user_ids"),
    wb_run_ids: list("The Weave SDKs' name for svc_run_ids"),
  })
  .meta({ id: "SdkCallsFilter" })
  .transform(({ wb_user_ids: users, wb_run_ids: runs, ...filter }) => ({
    ...filter,
    svc_user_ids: filter.svc_user_ids ?? users,
    svc_run_ids: filter.svc_run_ids ?? runs,
  }));
