import { anyCall } from "../http/schemas/any-call.ts";
import { projectId } from "../http/schemas/fields.ts";
import { windowFields } from "../http/schemas/window-fields.ts";
import { callsFilter, callsQuery } from "../query/read/wire-schema.ts";
import { totalsFields } from "./plan/totals.ts";

/** Members that select traces, shared by all trace routes. */
export const tracesFields = {
  project_id: projectId,
  ...windowFields,
  filter: callsFilter.nullish().describe("Of the root of a trace; `trace_ids` may have any start"),
  query: callsQuery.nullish().describe("Of the root of a trace"),
  totals: totalsFields
    .nullish()
    .describe("Of all calls of a trace, `latency_ms` of its root. An unknown value meets no condition"),
  any_call: anyCall.nullish().describe("Of at least one call of a trace"),
};
