import { z } from "zod";
import { isoInstant, projectId } from "../../http/schemas/fields.ts";

export const projectParams = z.object({ entity: z.string(), project: z.string() });
export const deletionParams = z.object({ id: z.string().max(64) });

const state = z
  .enum(["running", "done"])
  .describe("`done`: every replica has rewritten its data without the rows");

export const startedDeletion = z
  .object({ id: z.string().describe("Its progress: `GET /deletions/{id}`"), state })
  .meta({ id: "ProjectDeleteRes" });

export const deletionRes = z
  .object({
    id: z.string(),
    project_id: projectId,
    what: z.enum(["project", "calls"]),
    requested_at: isoInstant,
    state,
    done_at: isoInstant.nullable().describe("When it was first observed to be done"),
  })
  .meta({ id: "DeletionReadRes" });

const days = z
  .number()
  .int()
  .min(1)
  .max(36_500)
  .nullable()
  .describe("Older calls and feedback are deleted; null: none");
export const retentionReq = z.object({ days }).meta({ id: "RetentionReq" });
export const retentionRes = z.object({ days }).meta({ id: "RetentionRes" });
