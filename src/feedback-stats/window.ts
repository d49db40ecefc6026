import { z } from "zod";
import { instantField, projectId } from "../http/fields.ts";
import { invalid } from "../shared/errors.ts";
import { readInstant } from "../shared/instant.ts";
import type { Project } from "../shared/project.ts";
import type { FeedbackRows } from "./feedback-rows.ts";

/** The first instant that has a year of four digits. */
export const FIRST_MS = Date.parse("0000-01-01T00:00:00Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Milliseconds since the epoch, of any year that has four digits, rounded down. What is finer is cut off the text:
 * microseconds of far years are no exact numbers.
 */
const instant = instantField((text) => {
  const micros = readInstant(text.replace(/([.,]\d{3})\d+/, "$1"));
  const ms = micros === undefined ? undefined : Math.round(micros / 1000);
  return ms !== undefined && ms >= FIRST_MS && ms <= LAST_MS ? ms : undefined;
});

/** Which feedback of a project a request is about. */
export const windowFields = {
  project_id: projectId,
  start: instant.describe("Inclusive; a naive instant is UTC"),
  end: instant.nullish().describe("Exclusive. Default: now"),
  feedback_type: z.string().nullish(),
  trigger_ref: z.string().nullish().describe("Exact; ending in `:*`, every version"),
};

type WindowRequest = z.output<z.ZodObject<typeof windowFields>>;

/** The feedback a request is about, an omitted end frozen at now. Errors: validation, when it ends before it starts. */
export function rowsOf(project: Project, request: WindowRequest, nowMs: number): FeedbackRows {
  const { start, end, feedback_type: feedbackType, trigger_ref: triggerRef } = request;
  const window = { startMs: start, endMs: end ?? nowMs };
  if (window.endMs >= window.startMs) return { project, window, feedbackType, triggerRef };
  const [member, msg] =
    end == null ? ["start", "start lies in the future"] : ["end", "end lies before start"];
  throw invalid([{ loc: ["body", member], msg, type: "value_error" }]);
}
