import { z } from "zod";
import { windowFields, windowOf } from "../../http/schemas/window-fields.ts";
import { projectId } from "../../http/schemas/fields.ts";
import type { Project } from "../../shared/project.ts";
import type { FeedbackRows } from "./feedback-rows.ts";

/** Request fields that select feedback. */
export const feedbackWindowFields = {
  project_id: projectId,
  ...windowFields,
  feedback_type: z.string().nullish(),
  trigger_ref: z
    .string()
    .nullish()
    .describe("An exact reference, or one that ends in `:*` for every version"),
};

type WindowRequest = z.output<z.ZodObject<typeof feedbackWindowFields>>;

/** Returns the selected rows; an omitted end is now. Errors: validation, if the window ends before it starts. */
export function rowsOf(project: Project, request: WindowRequest, nowMs: number): FeedbackRows {
  const { feedback_type: feedbackType, trigger_ref: triggerRef } = request;
  return { project, window: windowOf(request, nowMs), feedbackType, triggerRef };
}
