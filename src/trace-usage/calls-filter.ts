import { z } from "zod";
import { join, param, sql, type Sql } from "../query/sql.ts";

const list = z.array(z.string()).max(10_000).nullish();

export const callsFilter = z
  .strictObject({
    op_names: list,
    input_refs: list,
    output_refs: list,
    parent_ids: list,
    trace_ids: list,
    call_ids: list,
    thread_ids: list,
    turn_ids: list,
    trace_roots_only: z.boolean().nullish(),
    svc_user_ids: list,
    svc_run_ids: list,
  })
  .meta({ id: "CallsFilter" });
export type CallsFilter = z.infer<typeof callsFilter>;

/** The condition of a filter: its members hold together, of a list any member may match. */
export function filterCondition(filter: CallsFilter): Sql {
  const conditions = [
    anyOf(sql`op_name`, filter.op_names),
    refs(sql`input_refs`, filter.input_refs),
    refs(sql`output_refs`, filter.output_refs),
    member(sql`parent_id`, filter.parent_ids),
    member(sql`trace_id`, filter.trace_ids),
    member(sql`id`, filter.call_ids),
    filter.thread_ids?.length === 0 ? sql`0` : member(sql`thread_id`, filter.thread_ids),
    filter.turn_ids?.length === 0 ? sql`0` : member(sql`turn_id`, filter.turn_ids),
    filter.trace_roots_only === true ? sql`ifNull(parent_id, '') = ''` : undefined,
    member(sql`svc_user_id`, filter.svc_user_ids),
    member(sql`svc_run_id`, filter.svc_run_ids),
  ].filter((condition) => condition !== undefined);
  return conditions.length === 0 ? sql`1` : sql`(${join(conditions, " AND ")})`;
}

type List = readonly string[] | null | undefined;

function member(column: Sql, values: List): Sql | undefined {
  return values == null || values.length === 0
    ? undefined
    : sql`${column} IN ${param("Array(String)", values)}`;
}

/** Exact, or everything that begins with what stands before the final `*` of `…:*`. */
function anyOf(value: Sql, patterns: List): Sql | undefined {
  if (patterns == null || patterns.length === 0) return undefined;
  const exact = patterns.filter((pattern) => !pattern.endsWith(":*"));
  const prefixes = patterns
    .filter((pattern) => pattern.endsWith(":*"))
    .map((pattern) => pattern.slice(0, -1));
  const alternatives = [
    member(value, exact),
    prefixes.length === 0
      ? undefined
      : sql`arrayExists(prefix -> startsWith(ifNull(${value}, ''), prefix), ${param("Array(String)", prefixes)})`,
  ].filter((condition) => condition !== undefined);
  return sql`(${join(alternatives, " OR ")})`;
}

function refs(column: Sql, patterns: List): Sql | undefined {
  const matches = anyOf(sql`ref`, patterns);
  return matches === undefined ? undefined : sql`arrayExists(ref -> ${matches}, ${column})`;
}
