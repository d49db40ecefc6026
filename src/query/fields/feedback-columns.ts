import type { Column } from "./columns.ts";
import { sql, type Sql } from "../sql.ts";

function text(expression: Sql): Column {
  return { type: "text", sql: expression, payload: false };
}

/** The fields of a feedback in the table `feedback`. */
export const feedbackColumns: ReadonlyMap<string, Column> = new Map(
  Object.entries({
    id: text(sql`id`),
    project_id: text(sql`project_id`),
    weave_ref: text(sql`weave_ref`),
    feedback_type: text(sql`feedback_type`),
    creator: text(sql`ifNull(creator, '')`),
    wb_user_id: text(sql`svc_user_id`),
    annotation_ref: text(sql`ifNull(annotation_ref, '')`),
    runnable_ref: text(sql`ifNull(runnable_ref, '')`),
    call_ref: text(sql`ifNull(call_ref, '')`),
    trigger_ref: text(sql`ifNull(trigger_ref, '')`),
    queue_id: text(sql`ifNull(queue_id, '')`),
    created_at: { type: "instant", sql: sql`toDateTime64(created_at, 6, 'UTC')`, payload: false },
    payload: { type: "json", sql: sql`payload`, payload: true },
  } satisfies Record<string, Column>),
);
