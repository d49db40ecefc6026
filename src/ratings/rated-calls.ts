import { compileQuery } from "../query/compile.ts";
import { feedbackFields } from "../query/fields/fields.ts";
import { ofProject } from "../query/hour-buckets.ts";
import { readJsonNumber, readJsonPath, splitFieldName } from "../query/fields/json-path.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { callIdOf } from "./calls-of-feedback.ts";
import type { RatingCondition } from "./schema.ts";

/** Row of `ratedCalls`. */
export interface RatedCall {
  readonly call_id: string;
  readonly passed: 0 | 1;
  /** Rating as a number; 1 or 0 for a boolean, null for any other value. */
  readonly value: number | null;
}

/**
 * Prints a subquery of `RatedCall`s: the calls of a project that feedback rates, by the latest (`created_at`, then `id`) of any
 * time. Purged feedback and feedback without a value at the path rate nothing. `among`: subquery of the ids of the calls; others
 * cost no read of a payload. The calls need not exist. Cost: O(feedback of the project). Throws `validation`.
 */
export function ratedCalls(project: Project, condition: RatingCondition, among?: Sql): Sql {
  const steps = splitFieldName(condition.json_path);
  const payload = { sql: sql`payload` };
  const { condition: passes } = compileQuery(toQuery(condition), { project, fields: feedbackFields });
  const number = sql`ifNotFinite(${readJsonNumber(payload, steps)}, NULL)`;
  const about = feedbackOnCalls(project, condition, among);
  // a PREWHERE may test the key alone, because it precedes the merge of versions
  const keys =
    among === undefined
      ? sql``
      : sql` AND (created_at, id) IN (SELECT created_at, id FROM feedback WHERE ${about})`;
  return sql`(SELECT call_id, rating.1 AS passed, rating.2 AS value FROM (
    SELECT ${callIdOf(project)} AS call_id, argMax((toUInt8(ifNull(${passes}, 0)), ${number}), (created_at, id)) AS rating
    FROM feedback FINAL PREWHERE ${ofProject(project)}${keys}
    WHERE deleted = 0 AND ${about} AND isNotNull(${readJsonPath(payload, steps)})
    GROUP BY call_id))`;
}

/** Prints a subquery of the ids of calls that `ratedCalls` may have: a superset that costs no read of a payload. */
export function callsWithFeedback(project: Project, condition: RatingCondition): Sql {
  return sql`(SELECT ${callIdOf(project)} FROM feedback WHERE ${feedbackOnCalls(project, condition, undefined)})`;
}

function feedbackOnCalls(
  project: Project,
  { feedback_type: type }: RatingCondition,
  among: Sql | undefined,
): Sql {
  const id = callIdOf(project);
  const ofType = type == null ? sql`` : sql` AND feedback_type = ${param("String", type)}`;
  const ofCalls = among === undefined ? sql`` : sql` AND ${id} IN ${among}`;
  return sql`${ofProject(project)}${ofType} AND ${id} != ''${ofCalls}`;
}

function toQuery({ json_path, op, value }: RatingCondition): unknown {
  const rating = { $getField: `payload.${json_path}` };
  const literal = Array.isArray(value) ? value.map((item) => ({ $literal: item })) : { $literal: value };
  return { $expr: { [op]: op === "$contains" ? { input: rating, substr: literal } : [rating, literal] } };
}
