import { assertNever } from "../shared/assert-never.ts";
import { casts } from "./print/casts.ts";
import { Issues, quote } from "./issues.ts";
import { callFields, type FieldValue } from "./fields/fields.ts";
import { readRawJson } from "./fields/json-path.ts";
import type { RefusedQuery } from "./read/read-query.ts";
import { sql, type Sql } from "./sql.ts";

export interface CompiledGroupKey {
  readonly ok: true;
  /** `String`: JSON on one line, '' if absent. */
  readonly text: Sql;
}

/** A call's field as a group key. Errors: returned, with an empty `loc`. */
export function compileGroupKey(name: string): CompiledGroupKey | RefusedQuery {
  const issues = new Issues();
  const field = callFields(name, [], issues);
  const text = field === undefined ? undefined : textOf(field);
  if (field !== undefined && text === undefined)
    issues.add([], "ungroupable_field", `Calls cannot be grouped by ${quote(name)}`);
  return text === undefined ? { ok: false, issues: issues.found } : { ok: true, text };
}

function textOf(field: FieldValue): Sql | undefined {
  if (field.kind === "feedback") return undefined;
  if (field.kind === "path") return readRawJson(field.column, field.steps);
  const column = field.column.sql;
  switch (field.type) {
    case "json":
      return sql`ifNull(${column}, '')`;
    case "text":
      return sql`if(${column} = '', '', toJSONString(${column}))`;
    case "string":
      return sql`toJSONString(${column})`;
    case "number":
    case "bool":
      return casts[field.type].text(column);
    case "instant":
      return sql`if(isNull(${column}), '', toJSONString(${casts.instant.text(column)}))`;
    case "refs":
      return casts.refs.text(column);
    default:
      return assertNever(field);
  }
}
