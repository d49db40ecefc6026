import type { Project } from "../shared/project.ts";
import { casts } from "./casts.ts";
import type { FeedbackField } from "./feedback-field.ts";
import { param, sql, type Sql } from "./sql.ts";

/** The ids of the project's calls that have feedback with this field; `where` narrows the feedback: `AND …`. */
export function feedbackRows(project: Project, field: FeedbackField, where: Sql): Sql {
  const callRef = `weave:///${project}/call/`;
  const ofType =
    field.feedbackType === undefined
      ? sql``
      : sql`AND feedback_type = ${param("String", field.feedbackType)}`;
  const idAt = param("UInt32", Buffer.byteLength(callRef) + 1);
  return sql`SELECT substring(weave_ref, ${idAt}) FROM feedback FINAL
    WHERE project_id = ${param("String", project)} AND deleted = 0 ${ofType}
      AND startsWith(weave_ref, ${param("String", callRef)}) AND NOT ${casts[field.type].absent(field.sql)} ${where}`;
}
