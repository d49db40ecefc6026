import { sql, trusted, type Sql } from "../sql.ts";

/**
 * Represents "cleared" in columns where NULL means "not mentioned": values that no message can contain. For texts it is ''.
 */
export const CLEARED_INSTANT = "2299-12-31 00:00:00.000000";
export const CLEARED_COUNT = "18446744073709551615";

/**
 * The engine's type of a value, which decides how each context reads it.
 *
 * - `json`: `Nullable(String)`, the text form of a JSON value; NULL is absent.
 * - `text`: `String`; '' is absent.
 * - `string`: `String`, never absent.
 * - `number`: any numeric type; NULL is absent. `bool`: `Nullable(UInt8)`; `instant`: `Nullable(DateTime64(6, 'UTC'))`.
 * - `refs`: `Array(String)`, never absent.
 */
export type ValueType = "json" | "text" | "string" | "number" | "bool" | "instant" | "refs";

/** A field of a call in the table `calls`. */
export interface Column {
  readonly type: ValueType;
  readonly sql: Sql;
  /** Large text, only read for calls that pass all other conditions. */
  readonly payload: boolean;
  /** Keys may hold the rest of a path: an attribute `team.id` beside `team` is no member of it. */
  readonly dottedKeys?: true;
}

/** A call that has started and is not deleted. */
export const IS_VISIBLE = sql`deleted_at IS NULL AND started_at IS NOT NULL`;

/** Condition on a call. A call that states no parent is a root. */
export const IS_ROOT = sql`ifNull(parent_id, '') = ''`;
/**
 * Condition on a stored message of a call, true for every root's message that has its start. Ends and updates state no
 * parent either, so a message without a start says nothing.
 */
export const MAY_BE_ROOT = sql`(parent_id = '' OR (parent_id IS NULL AND started_at IS NOT NULL))`;

/** Whether a call has ended, 1 or 0. */
export const HAS_ENDED = sql`ifNull(ended_at < ${trusted(`toDateTime64('${CLEARED_INSTANT}', 6, 'UTC')`)}, 0)`;
const endedAt = sql`if(${HAS_ENDED}, ended_at, NULL)`;
/** References of a payload, `Array(String)`. */
export const INPUT_REFS = sql`JSONExtract(ifNull(input_refs, ''), 'Array(String)')`;
export const OUTPUT_REFS = sql`JSONExtract(ifNull(output_refs, ''), 'Array(String)')`;

const opName = sql`ifNull(op_name, '')`;
const displayName = sql`ifNull(coalesce(renamed_to, end_display_name, start_display_name), '')`;
/** A count, as its producer wrote it: a number. */
const childErrors = sql`JSONExtract(summary, 'status_counts', 'error', 'Nullable(Float64)')`;

function narrow(type: ValueType, expression: Sql): Column {
  return { type, sql: expression, payload: false };
}

function payload(type: ValueType, expression: Sql): Column {
  return { type, sql: expression, payload: true };
}

/** Every field by its full name. A JSON field can be followed by a path. */
export const columns: ReadonlyMap<string, Column> = new Map(
  Object.entries({
    id: narrow("text", sql`id`),
    project_id: narrow("text", sql`project_id`),
    trace_id: narrow("text", sql`trace_id`),
    parent_id: narrow("text", sql`ifNull(parent_id, '')`),
    op_name: narrow("text", opName),
    display_name: narrow("text", displayName),
    thread_id: narrow("text", sql`ifNull(thread_id, '')`),
    turn_id: narrow("text", sql`ifNull(turn_id, '')`),
    exception: narrow("text", sql`ifNull(exception, '')`),
    svc_user_id: narrow("text", sql`ifNull(svc_user_id, '')`),
    svc_run_id: narrow("text", sql`ifNull(svc_run_id, '')`),
    svc_run_step: narrow("number", sql`nullIf(svc_run_step, ${trusted(CLEARED_COUNT)})`),
    started_at: narrow("instant", sql`started_at`),
    ended_at: narrow("instant", endedAt),
    deleted_at: narrow("instant", sql`deleted_at`),
    input_refs: narrow("refs", INPUT_REFS),
    output_refs: narrow("refs", OUTPUT_REFS),
    inputs: payload("json", sql`inputs`),
    output: payload("json", sql`output`),
    attributes: { ...payload("json", sql`attributes`), dottedKeys: true },
    summary: payload("json", sql`summary`),
  }),
);

/** The fields of `summary.weave`. They are computed, never read from the summary. */
export const computedColumns: ReadonlyMap<string, Column> = new Map(
  Object.entries({
    status: payload(
      "string",
      sql`multiIf(ifNull(exception, '') != '', 'error', ifNull(${childErrors} > 0, 0), 'descendant_error', NOT ${HAS_ENDED}, 'running', 'success')`,
    ),
    latency_ms: narrow(
      "number",
      sql`intDiv(toUnixTimestamp64Micro(${endedAt}) - toUnixTimestamp64Micro(started_at), 1000)`,
    ),
    trace_name: narrow(
      "text",
      sql`multiIf(${displayName} != '', ${displayName}, startsWith(${opName}, 'weave:///'), splitByChar(':', splitByChar('/', ${opName})[-1])[1], ${opName})`,
    ),
  }),
);
