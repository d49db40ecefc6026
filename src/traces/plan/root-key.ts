import { compileGroupKey } from "../../query/index.ts";
import { sql, type Sql } from "../../query/sql.ts";
import type { Issue } from "../../shared/errors.ts";
import { STATUS } from "./call-conditions.ts";
import { ROOT_FIRST } from "./plan-traces.ts";

/** Named group keys; others are fields of the root. */
export const KEY_NAMES = [
  "op_name",
  "status",
  "svc_user_id",
  "svc_run_id",
  "thread_id",
  "trace_name",
] as const;
type KeyName = (typeof KEY_NAMES)[number];

export type RequestedKey = KeyName | { readonly $getField: string };

/** Compiles a value of the root, aggregated over the calls of a trace: JSON, '' if absent. Issues: unknown field. */
export function rootKey(requested: RequestedKey): Sql | readonly Issue[] {
  if (requested === "status") return ofRoot(sql`toJSONString(${STATUS})`);
  if (requested === "trace_name") return keyOf("summary.weave.trace_name", []);
  return typeof requested === "string" ? keyOf(requested, []) : keyOf(requested.$getField, ["$getField"]);
}

function keyOf(name: string, loc: readonly string[]): Sql | readonly Issue[] {
  const compiled = compileGroupKey(name);
  if (compiled.ok) return ofRoot(compiled.text);
  return compiled.issues.map((issue) => ({ ...issue, loc: [...loc, ...issue.loc] }));
}

function ofRoot(value: Sql): Sql {
  return sql`argMin(${value}, ${ROOT_FIRST})`;
}
