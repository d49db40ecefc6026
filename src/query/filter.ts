import { INPUT_REFS, OUTPUT_REFS } from "./fields/columns.ts";
import { join, param, sql, type Sql } from "./sql.ts";
import type { CallsFilter } from "./read/wire-schema.ts";

type List = readonly string[] | null | undefined;

/** The condition of a filter over the narrow columns of `calls`: all members must match, and any item of a list. */
export function compileFilter(filter: CallsFilter | null | undefined): Sql {
  const conditions = filterConditions(filter);
  return conditions.length === 0 ? sql`1` : sql`(${join(conditions, " AND ")})`;
}

/** One condition for each member that is present. */
export function filterConditions(filter: CallsFilter | null | undefined): readonly Sql[] {
  const { thread_ids: threads, turn_ids: turns, ...members } = filter ?? {};
  return [
    matchesAny(sql`ifNull(op_name, '')`, members.op_names),
    anyRefMatches(INPUT_REFS, members.input_refs),
    anyRefMatches(OUTPUT_REFS, members.output_refs),
    isOneOf(sql`trace_id`, members.trace_ids),
    isOneOf(sql`id`, members.call_ids),
    isOneOf(sql`parent_id`, members.parent_ids),
    isOneOf(sql`svc_user_id`, members.svc_user_ids),
    isOneOf(sql`svc_run_id`, members.svc_run_ids),
    threads?.length === 0 ? sql`0` : isOneOf(sql`thread_id`, threads),
    turns?.length === 0 ? sql`0` : isOneOf(sql`turn_id`, turns),
    members.trace_roots_only === true ? sql`(ifNull(parent_id, '') = '')` : undefined,
  ].filter((condition) => condition !== undefined);
}

function isOneOf(column: Sql, values: List): Sql | undefined {
  if (values == null || values.length === 0) return undefined;
  return sql`(${column} IN ${texts(values)})`;
}

/** `name` matches exactly; `name:*` matches everything that begins with `name:`. Any other `*` is an ordinary character. */
function matchesAny(text: Sql, patterns: List): Sql | undefined {
  if (patterns == null || patterns.length === 0) return undefined;
  const exact = patterns.filter((pattern) => !pattern.endsWith(":*"));
  const prefixes = patterns
    .filter((pattern) => pattern.endsWith(":*"))
    .map((pattern) => pattern.slice(0, -1));
  const alternatives = [isOneOf(text, exact), beginsWithAny(text, prefixes)];
  return sql`(${join(
    alternatives.filter((condition) => condition !== undefined),
    " OR ",
  )})`;
}

function anyRefMatches(column: Sql, patterns: List): Sql | undefined {
  const matches = matchesAny(sql`ref`, patterns);
  return matches === undefined ? undefined : sql`arrayExists(ref -> ${matches}, ${column})`;
}

/** From this number on, looking up every prefix of the text that ends in a colon is faster than trying every requested prefix. */
const MANY_PREFIXES = 16;

function beginsWithAny(text: Sql, prefixes: readonly string[]): Sql | undefined {
  if (prefixes.length === 0) return undefined;
  if (prefixes.length < MANY_PREFIXES) {
    const tests = prefixes.map((prefix) => sql`startsWith(${text}, ${param("String", prefix)})`);
    return sql`(${join(tests, " OR ")})`;
  }
  const parts = sql`splitByChar(':', ${text})`;
  const prefix = sql`concat(arrayStringConcat(arraySlice(${parts}, 1, n), ':'), ':')`;
  return sql`arrayExists(n -> ${prefix} IN ${texts(prefixes)}, range(1, length(${parts})))`;
}

function texts(values: readonly string[]) {
  return param("Array(String)", values);
}
