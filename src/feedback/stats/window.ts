import { z } from "zod";
import { windowFields, windowOf } from "../../http/schemas/window-fields.ts";
import { projectId } from "../../http/schemas/fields.ts";
import type { Project } from "../../shared/project.ts";
import type { FeedbackRows } from "./feedback-rows.ts";

/** Request fields that select feedback of a project. */
export const feedbackWindowFields = {
  project_id: projectId,
  ...windowFields,
  feedback_type: z.string().nullish(),
  trigger_ref: z.string().nullish().describe("Exact, or ending in `:*` for every version"),
};

type WindowRequest = z.output<z.ZodObject<typeof feedbackWindowFields>>;

/** The feedback a request is about, an omitted end frozen at now. Errors: validation, when it ends before it starts. */
export function rowsOf(project: Project, request: WindowRequest, nowMs: number): FeedbackRows {
  const { feedback_type: feedbackType, trigger_ref: triggerRef } = request;
  return { project, window: windowOf(request, nowMs), feedbackType, triggerRef };
}
