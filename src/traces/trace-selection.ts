import { z } from "zod";
import { projectId } from "../http/schemas/fields.ts";
import { windowFields } from "../http/schemas/window-fields.ts";
import { callsFilter, callsQuery, oncePerLimits, type SelectionLimits } from "../query/index.ts";
import { knownMembers, oneOfNames } from "./known-names.ts";

const MAX_CONDITIONS = 20;
const MAX_VALUES = 1000;
const MAX_TEXT = 200;

/** Statuses of a call. */
export const STATUSES = ["success", "error", "running"] as const;
const bound = z.number().nullish();
export const range = z
  .strictObject({ gt: bound, gte: bound, lt: bound, lte: bound })
  .meta({ id: "NumberRange", description: "A number that is greater, or less, than these; `e`: or equal" });
export type NumberRange = z.output<typeof range>;

const texts = (meaning: string) => z.array(z.string()).max(MAX_VALUES).nullish().describe(meaning);

const anyCall = oncePerLimits((limits) =>
  knownMembers({
    status: z
      .array(oneOfNames(STATUSES))
      .max(STATUSES.length)
      .nullish()
      .describe("`error`: it has an exception. `running`: it has not ended"),
    op_names: texts("Names of operations. Exact, or `name:*` for all that begins with `name:`"),
    models: texts("LLMs that it reports usage of"),
    svc_user_ids: texts("Users who made it"),
    latency_ms: range.nullish(),
    total_tokens: range.nullish().describe("The tokens that the call reports, of all LLMs together"),
    text: z
      .string()
      .min(1)
      .max(MAX_TEXT)
      .nullish()
      .describe(
        "Stands in its inputs or its output, whatever the case of letters and however JSON escapes it",
      ),
    query: callsQuery(limits).nullish(),
  }).meta({
    id: "AnyCall",
    description: "True of a trace if one of its calls matches all members. An empty list is no condition",
  }),
);
export type AnyCall = z.output<ReturnType<typeof anyCall>>;

/** Members that select traces, shared by all trace routes. */
export function tracesFields(limits: SelectionLimits) {
  return {
    project_id: projectId,
    ...windowFields,
    filter: callsFilter(limits).nullish().describe("Of the root of a trace; `trace_ids` may have any start"),
    query: callsQuery(limits).nullish().describe("Of the root of a trace"),
    any: z
      .array(anyCall(limits))
      .max(MAX_CONDITIONS)
      .nullish()
      .describe("Each must be true of some call of the trace, not necessarily of the same one"),
  };
}
