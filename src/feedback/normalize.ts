import { invalid } from "../shared/errors.ts";
import { stringifyJson } from "../shared/json.ts";
import type { FeedbackColumns } from "./feedback-row.ts";
import { indexPayload, MAX_PATHS_CHARS, MAX_VALUES } from "./payload-index.ts";
import { completePayload, payloadIssues } from "./payload.ts";
import { scorerMembers, type FeedbackMessage } from "./schema.ts";

/** Converts a message to stored columns. Errors: validation, if the payload is invalid for its feedback type. */
export function toColumns(message: FeedbackMessage, senderId: string): FeedbackColumns {
  const issues = payloadIssues(message.feedback_type, message.payload);
  if (issues.length > 0) {
    throw invalid(issues.map((issue) => ({ ...issue, loc: ["body", "payload", ...issue.loc] })));
  }
  const payload = completePayload(message.feedback_type, message.payload);
  const index = indexPayload(payload);
  if (index === undefined) {
    const msg = `A payload may have at most ${MAX_VALUES} values, and paths of at most ${MAX_PATHS_CHARS} characters in total`;
    throw invalid([{ loc: ["body", "payload"], msg, type: "too_long" }]);
  }
  return {
    feedback_type: message.feedback_type,
    weave_ref: message.weave_ref,
    creator: message.creator,
    svc_user_id: message.wb_user_id ?? senderId,
    annotation_ref: message.annotation_ref,
    runnable_ref: message.runnable_ref,
    call_ref: message.call_ref,
    trigger_ref: message.trigger_ref,
    queue_id: message.queue_id,
    payload: stringifyJson(payload),
    scorer: scorerText(message),
    ...index,
  };
}

function scorerText(message: FeedbackMessage): string {
  const sent = scorerMembers.filter((name) => message[name] != null).map((name) => [name, message[name]]);
  return sent.length === 0 ? "" : stringifyJson(Object.fromEntries(sent));
}
