import type { UsageStats } from "../api/routes.ts";
import type { HrefTo } from "./url-state.ts";
import { readQuery } from "./query.ts";
import { allOf, operandOf, printCondition, withCondition, type Condition } from "./search.ts";
import { fieldOfGroup, type Frequent } from "./groups.ts";

/** How traces are sorted, by what is looked at. */
export const SORT_OF = { cost: "cost", tokens: "tokens", calls: "calls", errors: "wasted" } as const;

/** The traces behind the figures of a search. */
export interface TraceLinks {
  readonly cost: string;
  readonly tokens: string;
  readonly calls: string;
  readonly errors: string;
}

export function tracesOf(hrefTo: HrefTo, q: string, window?: string): TraceLinks {
  const by = (sort: string, search = q): string =>
    hrefTo("traces", { q: search, sort, ...(window !== undefined && { window }) });
  return {
    cost: by(SORT_OF.cost),
    tokens: by(SORT_OF.tokens),
    calls: by(SORT_OF.calls),
    errors: by(SORT_OF.errors, failedOf(q)),
  };
}

type Key = UsageStats["groups"][number]["key"];

/** A search, as text or JSON, that leaves only what fulfils conditions too. */
function narrowed(text: string, conditions: readonly Condition[]): string {
  if (!text.trimStart().startsWith("{")) return conditions.reduce(withCondition, text);
  return JSON.stringify({ $expr: allOf([readQuery(text, "calls").operand, ...conditions.map(operandOf)]) });
}

function failedOf(text: string): string {
  return narrowed(text, [{ field: "status", op: ":", value: "failed", isNot: false }]);
}

/** The search that leaves only the calls of a group; undefined where a member of its key is no field of calls. */
export function searchOfGroup(text: string, key: Key): string | undefined {
  const conditions = Object.entries(key).map(([group, value]) => conditionOf(group, value));
  const known = conditions.filter((condition) => condition !== undefined);
  // a model of none may report the usage of the calls below it, which a search for none leaves out
  return known.length < conditions.length || key["llm"] === null ? undefined : narrowed(text, known);
}

/** A search for one value of a group alone. */
export function searchOfValue(group: Frequent, value: Key[string] | undefined): string {
  return printCondition(conditionOf(group, value)!);
}

function conditionOf(group: string, value: Key[string] | undefined): Condition | undefined {
  const field = fieldOfGroup(group);
  if (field === undefined || (field === "status" && value === "descendant_error")) return undefined;
  const text = value == null ? null : String(value);
  return { field, op: ":", value: field === "status" && text === "error" ? "failed" : text, isNot: false };
}

/** Next dimension to group a group's calls by. */
export function nextGroup(groups: readonly string[]): string {
  const order = ["llm", "op_name", "svc_user_id", "trace_id"];
  return order.find((one) => !groups.includes(one)) ?? "trace_id";
}
