import { windowOf } from "../../http/schemas/window-fields.ts";
import { join, param, sql, type Sql } from "../../query/sql.ts";
import { toStoreText } from "../../shared/instant.ts";
import type { Project } from "../../shared/project.ts";
import type { TimeWindow } from "../../buckets/buckets.ts";
import type { FeedbackSelection } from "./schema.ts";

/** Selection of feedback rows. */
export interface FeedbackRows {
  readonly project: Project;
  readonly window: TimeWindow;
  readonly feedbackType: string | null | undefined;
  readonly triggerRef: string | null | undefined;
}

/** Returns the rows of a request; an omitted end is now. Errors: validation, if the window ends before it starts. */
export function rowsOf(project: Project, request: FeedbackSelection, nowMs: number): FeedbackRows {
  const { feedback_type: feedbackType, trigger_ref: triggerRef } = request;
  return { project, window: windowOf(request, nowMs), feedbackType, triggerRef };
}

/** Prints the FROM clause. All versions of a row share the sorting key, so conditions on it may precede the merge of versions. */
export function feedbackOf({ project, window, feedbackType, triggerRef }: FeedbackRows): Sql {
  const conditions = [sql`deleted = 0`];
  if (feedbackType != null) conditions.push(sql`feedback_type = ${param("String", feedbackType)}`);
  if (triggerRef != null) conditions.push(triggerCondition(triggerRef));
  return sql`feedback FINAL
    PREWHERE project_id = ${param("String", project)}
      AND created_at >= ${instant(window.startUs)} AND created_at < ${instant(window.endUs)}
    WHERE ${join(conditions, " AND ")}`;
}

/** Prints the condition; `…:*` matches every version. The prefix includes the colon, so that `name` does not match `name2:v1`. */
function triggerCondition(triggerRef: string): Sql {
  if (!triggerRef.endsWith(":*")) return sql`trigger_ref = ${param("String", triggerRef)}`;
  return sql`startsWith(trigger_ref, ${param("String", triggerRef.slice(0, -1))})`;
}

/** Time range of the column; no rows are outside. */
const FIRST_US = Date.UTC(1900, 0, 1) * 1000;
const LAST_US = Date.UTC(2255, 0, 1) * 1000;

function instant(us: number) {
  return param("DateTime64(6, 'UTC')", toStoreText(Math.min(Math.max(us, FIRST_US), LAST_US)));
}
