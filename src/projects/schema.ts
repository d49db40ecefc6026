import { z } from "zod";

export const projectParams = z.object({ entity: z.string(), project: z.string() });
export const deletionParams = z.object({ id: z.string().max(64) });

const state = z.enum(["running", "done"]).describe("`done`: no part of the store holds the rows any more");

export const startedDeletion = z
  .object({ id: z.string().describe("Its receipt: `GET /deletions/{id}`"), state })
  .meta({ id: "ProjectDeleteRes" });

export const deletionRes = z
  .object({
    id: z.string(),
    project_id: z.string(),
    what: z.enum(["project", "calls"]),
    requested_at: z.string(),
    state,
    done_at: z.string().nullable().describe("When it was first seen to be done"),
  })
  .meta({ id: "DeletionReadRes" });

export const retention = z
  .object({
    days: z
      .number()
      .int()
      .min(1)
      .max(36_500)
      .nullable()
      .describe("Older calls and feedback are deleted; null: none"),
  })
  .meta({ id: "Retention" });
