import { casts } from "./print/casts.ts";
import { invalid } from "../shared/errors.ts";
import { Issues, quote, type Loc } from "./issues.ts";
import { callFields } from "./fields/fields.ts";
import { readJsonPath } from "./fields/json-path.ts";
import { join, sql, type Sql } from "./sql.ts";

export interface SortKey {
  readonly field: string;
  readonly direction: "asc" | "desc";
}

/**
 * An order of calls by fields of the query language. Absent values come last in both directions. In JSON, numbers come before
 * text. Ties are broken by id, in the direction of `started_at` if requested, or else descending. Throws `validation`.
 */
export function compileSort(keys: readonly SortKey[]): Sql {
  const issues = new Issues();
  const orders = keys.map(
    (key, index) => orderBy(key, ["body", "sort_by", index, "field"], issues) ?? sql`1`,
  );
  if (issues.found.length > 0) throw invalid(issues.found);
  return join([...orders, byId(keys)], ", ");
}

/** Two traces may have the same id. */
function byId(keys: readonly SortKey[]): Sql {
  const way = wayOf(keys.find(({ field }) => field === "started_at")?.direction ?? "desc");
  return sql`id ${way}, trace_id ${way}`;
}

function wayOf(direction: SortKey["direction"]): Sql {
  return direction === "asc" ? sql`ASC` : sql`DESC`;
}

function orderBy({ field, direction }: SortKey, loc: Loc, issues: Issues): Sql | undefined {
  const value = callFields(field, loc, issues);
  if (value === undefined) return undefined;
  if (value.kind === "feedback" || value.type === "refs") {
    return issues.add(loc, "unsortable_field", `Calls cannot be sorted by ${quote(field)}`);
  }
  const text = value.kind === "path" ? readJsonPath(value.column, value.steps) : value.column.sql;
  const way = wayOf(direction);
  const numbersFirst = value.type === "json" ? sql`${casts.json.number(text)} ${way} NULLS LAST, ` : sql``;
  return sql`${casts[value.type].absent(text)}, ${numbersFirst}${text} ${way}`;
}
