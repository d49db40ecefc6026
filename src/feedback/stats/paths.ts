import { param, sql, type Sql } from "../../query/sql.ts";
import { feedbackOf, type FeedbackRows } from "./feedback-rows.ts";
import type { ValueType } from "./metrics.ts";

/** A found path; `types` has a bit per value type: 1 number, 2 boolean, 4 string. */
export interface PathRow {
  readonly path: string;
  readonly types: number;
}

const NUMBER = 1;
const BOOLEAN = 2;
/** Samples per feedback type and trigger, so that a busy trigger does not hide the others. */
const ROWS_PER_TRIGGER = 10;
export const MAX_PATHS = 10_000;

/** Prints the statement for the paths in a sample of the newest feedback, without array positions; at most `MAX_PATHS` + 1. */
export function printPaths(rows: FeedbackRows, sampleLimit: number): Sql {
  return sql`SELECT found.1 AS path, groupBitOr(found.2) AS types
    FROM (
      SELECT arrayJoin(arrayConcat(
        arrayMap(path -> (path, 1), mapKeys(numbers)),
        arrayMap(path -> (path, 2), mapKeys(booleans)),
        arrayMap(path -> (path, 4), texts))) AS found
      FROM feedback FINAL
      PREWHERE (project_id, created_at, id) IN (
        SELECT project_id, created_at, id FROM ${feedbackOf(rows)}
        ORDER BY created_at DESC, id
        LIMIT ${param("UInt32", ROWS_PER_TRIGGER)} BY feedback_type, trigger_ref
        LIMIT ${param("UInt32", sampleLimit)})
    )
    WHERE NOT match(path, '(^|\\\\.)[0-9]+(\\\\.|$)')
    GROUP BY path ORDER BY path LIMIT ${param("UInt32", MAX_PATHS + 1)}`;
}

/** Chooses the metric type: numeric or boolean if all values are; else categorical. */
export function toFoundPath({ path, types }: PathRow) {
  const value_type: ValueType = types === NUMBER ? "numeric" : types === BOOLEAN ? "boolean" : "categorical";
  return { json_path: path, value_type };
}
