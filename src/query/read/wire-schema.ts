import { z } from "zod";
import { feedbackFields, priceFields } from "../fields/fields.ts";
import { OPERAND_ID, operandSchema, OPERATION_ID, operationSchema, querySchema } from "./json-schema.ts";
import type { QueryLimits } from "./parse.ts";
import { defaultQueryLimits, readQuery, type ReadOptions } from "./read-query.ts";

export interface SelectionLimits extends QueryLimits {
  /** The maximum length of an array in a filter. */
  readonly maxFilterMembers: number;
}

export const defaultSelectionLimits: SelectionLimits = { ...defaultQueryLimits, maxFilterMembers: 10_000 };

const WILDCARD = "Exact, or `name:*` for all that begins with `name:`.";

/** Selects calls: all members must match, and any item of a list. Null or absent is no condition. */
function buildFilter({ maxFilterMembers }: SelectionLimits) {
  const list = (meaning: string) => z.array(z.string()).max(maxFilterMembers).nullish().describe(meaning);
  return z
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
}

export type CallsFilter = z.infer<ReturnType<typeof buildFilter>>;

/** One schema per set of limits, because a name in `openapi.json` belongs to one schema. */
export const callsFilter = oncePerLimits(buildFilter);

z.unknown().meta({ id: OPERAND_ID, ...operandSchema });
z.unknown().meta({ id: OPERATION_ID, ...operationSchema });

/** A query over calls, unchecked: the compiler checks it. */
export const callsQuery = oncePerLimits((limits) =>
  checkedQuery({ limits }).meta({ id: "Query", ...querySchema }),
);

/** A query over feedback. */
export function feedbackQuery() {
  return checkedQuery({ fields: feedbackFields }).meta({ anyOf: [{ $ref: "#/components/schemas/Query" }] });
}

/** A named schema may only be made once, so the same limits return the same schema. */
export function oncePerLimits<Schema>(
  build: (limits: SelectionLimits) => Schema,
): (limits?: SelectionLimits) => Schema {
  const built = new WeakMap<SelectionLimits, Schema>();
  return (limits = defaultSelectionLimits) => {
    const schema = built.get(limits) ?? build(limits);
    built.set(limits, schema);
    return schema;
  };
}

/** A query over the prices of a project. */
export function priceQuery() {
  return checkedQuery({ fields: priceFields }).meta({ anyOf: [{ $ref: "#/components/schemas/Query" }] });
}

function checkedQuery(options: ReadOptions) {
  return z.unknown().superRefine((query, context) => {
    const read = readQuery(query, options);
    if (read.ok) return;
    for (const { loc, msg, type } of read.issues) {
      context.addIssue({ code: "custom", path: loc.slice(1), message: msg, params: { type } });
    }
  });
}

/** The filter as the Weave SDKs send it: `wb_user_ids` and `wb_run_ids` are `svc_user_ids` and `svc_run_ids`. */
export const sdkFilter = oncePerLimits((limits) => {
  const names = z.array(z.string()).max(limits.maxFilterMembers).nullish();
  return callsFilter(limits)
    .extend({
      wb_user_ids: names.describe("The Weave SDKs' name for svc_user_ids"),
      wb_run_ids: names.describe("The Weave SDKs' name for svc_run_ids"),
    })
    .meta({ id: "SdkCallsFilter" })
    .transform(({ wb_user_ids: users, wb_run_ids: runs, ...filter }) => ({
      ...filter,
      svc_user_ids: filter.svc_user_ids ?? users,
      svc_run_ids: filter.svc_run_ids ?? runs,
    }));
});
