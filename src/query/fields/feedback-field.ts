import type { ValueType } from "./columns.ts";
import { readJsonPath, splitFieldName } from "./json-path.ts";
import { sql, type Sql } from "../sql.ts";

/** A field of a call's feedback. It has one value per feedback that has the field. */
export interface FeedbackField {
  /** Undefined for feedback of any type. */
  readonly feedbackType: string | undefined;
  readonly type: ValueType;
  /** Over the table `feedback`. */
  readonly sql: Sql;
  /** Path in the payload; undefined for other columns. */
  readonly steps: readonly string[] | undefined;
}

const NAME = /^feedback\.\[(?<feedbackType>.+?)\]\.(?<path>.+)$/s;
const refColumns: ReadonlyMap<string, Sql> = new Map([
  ["runnable_ref", sql`ifNull(runnable_ref, '')`],
  ["trigger_ref", sql`ifNull(trigger_ref, '')`],
]);

/** The prefix of these fields' names. */
export const FEEDBACK_PREFIX = "feedback.";
export const FEEDBACK_FORMS =
  "feedback.[TYPE].payload, feedback.[TYPE].payload.<path>, feedback.[TYPE].runnable_ref, feedback.[TYPE].trigger_ref";

/** Parses `feedback.[TYPE].payload.some.path`; `*` is any type. Undefined for other names. */
export function parseFeedbackField(name: string): FeedbackField | undefined {
  const { feedbackType, path } = NAME.exec(name)?.groups ?? {};
  if (feedbackType === undefined || path === undefined) return undefined;
  const onlyType = feedbackType === "*" ? undefined : feedbackType;
  const refColumn = refColumns.get(path);
  if (refColumn !== undefined)
    return { feedbackType: onlyType, type: "text", sql: refColumn, steps: undefined };
  const [root, ...steps] = splitFieldName(path);
  if (root !== "payload") return undefined;
  return { feedbackType: onlyType, type: "json", sql: readJsonPath({ sql: sql`payload` }, steps), steps };
}
