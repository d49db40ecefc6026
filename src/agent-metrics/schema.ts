import { z } from "zod";
import { isoInstant, projectId } from "../http/schemas/fields.ts";
import { bucketFields, startBeforeEnd, windowFields } from "../http/schemas/window-fields.ts";
import { groupByField, groupKey, groupLimit } from "../stats/schema.ts";
import { OUTCOMES } from "./outcomes.ts";

const MAX_DIMENSIONS = 3;
const FIELDS = ["thread_id", "svc_user_id", "api_key"] as const;

/** Groups by what points have of the fields of calls. */
const groupBy = groupByField(MAX_DIMENSIONS, FIELDS).superRefine(({ all }, context) => {
  for (const [place, { label, field }] of all.entries()) {
    if (field.startsWith("attributes.") || FIELDS.some((name) => name === field)) continue;
    const message = `Metrics of agents have no ${label}: use ${FIELDS.join(", ")} or a path in attributes`;
    context.addIssue({ code: "custom", path: [place], message, params: { type: "value_error" } });
  }
});

/** Request of `POST /agents/stats`. */
export const agentStatsRequest = z
  .strictObject({
    project_id: projectId,
    ...windowFields,
    timezone: bucketFields.timezone,
    group_by: groupBy,
    limit: groupLimit,
  })
  .check(startBeforeEnd)
  .meta({ id: "AgentStatsReq" });

const members = Object.entries(OUTCOMES).map(
  ([name, text]) => [name, z.number().nullable().describe(text)] as const,
);
const total = z
  .object(Object.fromEntries(members))
  .meta({ id: "AgentTotal", description: "As agents report it; null if none does" });

/** Response of `POST /agents/stats`. */
export const agentStatsResponse = z
  .object({
    start: isoInstant,
    end: isoInstant,
    timezone: z.string(),
    groups: z
      .array(z.object({ key: groupKey, total }))
      .describe("By active time, longest first, then by key"),
    other: z
      .object({ groups: z.int(), total })
      .nullable()
      .describe("The sum of the groups beyond `limit`; null if there are none"),
    total,
  })
  .meta({ id: "AgentStatsRes" });
