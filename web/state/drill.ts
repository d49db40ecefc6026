import type { UsageStats } from "../api/routes.ts";
import { piecesOf } from "../format/error-pattern.ts";
import type { HrefTo } from "./url-state.ts";
import { readQuery } from "./query.ts";
import { allOf, operandOf, printCondition, withCondition, type Condition } from "./search.ts";
import { ERROR, fieldOfGroup, type Subject } from "./groups.ts";

/** How traces are sorted, by what is looked at; undefined: by tokens. */
const SORT_OF: Readonly<Record<string, string>> = {
  cost: "cost",
  each: "cost",
  traces: "cost",
  calls: "calls",
  latency: "latency",
  errors: "wasted",
  wasted: "wasted",
};

/** Address of the traces behind a measure of a search. */
export type TraceLinks = (measure: string) => string;

export const ANY_FAILED: Condition = { field: "status", op: ":", value: "failed", isNot: false };
export const ROOT_FAILED: Condition = { ...ANY_FAILED, ofRoot: true };
export const RECOVERED: readonly Condition[] = [ANY_FAILED, { ...ROOT_FAILED, isNot: true }];

interface Behind {
  /** The search. */
  readonly text: string;
  readonly of: Subject;
  readonly window?: string;
}

export function tracesOf(hrefTo: HrefTo, { text, of, window }: Behind): TraceLinks {
  const failed: Readonly<Record<string, Condition>> = {
    errors: of === "calls" ? ANY_FAILED : ROOT_FAILED,
    wasted: ANY_FAILED,
  };
  return (measure) => {
    const q = narrowed(text, [failed[measure] ?? []].flat());
    return hrefTo("traces", {
      q,
      sort: SORT_OF[measure] ?? "tokens",
      ...(window !== undefined && { window }),
    });
  };
}

type Key = UsageStats["groups"][number]["key"];

/** A search, as text or JSON, that leaves only what fulfils conditions too. */
export function narrowed(text: string, conditions: readonly Condition[]): string {
  if (!text.trimStart().startsWith("{")) return conditions.reduce(withCondition, text);
  if (conditions.length === 0) return text;
  return JSON.stringify({ $expr: allOf([readQuery(text, "calls").operand, ...conditions.map(operandOf)]) });
}

/** The search that leaves only what is in a group; undefined where a member of its key is no field of a search. */
export function searchOfGroup(
  key: Key,
  { text, of, patterns = [] }: Behind & { readonly patterns?: readonly string[] },
): string | undefined {
  const conditions = Object.entries(key).map(([group, value]) =>
    conditionsOfValue(group, value, of, patterns),
  );
  const known = conditions.filter((condition) => condition !== undefined);
  // JSON is of any call, and says nothing of the root
  if (of === "traces" && text.trimStart().startsWith("{")) return undefined;
  // a model of none may report the usage of the calls below it, which a search for none leaves out
  return known.length < conditions.length || key["llm"] === null ? undefined : narrowed(text, known.flat());
}

/** A search for one value of a group alone. */
export function searchOfValue(group: string, value: Key[string] | undefined, of: Subject = "calls"): string {
  return (conditionsOfValue(group, value, of, []) ?? []).map(printCondition).join(" ");
}

function conditionsOfValue(
  group: string,
  value: Key[string] | undefined,
  of: Subject,
  patterns: readonly string[],
): readonly Condition[] | undefined {
  const field = fieldOfGroup(group);
  if (field === undefined || (of === "calls" && field === "status" && value === "descendant_error"))
    return undefined;
  const text = value == null ? null : String(value);
  const isOfRoot = of === "traces" && field !== "trace";
  const condition: Condition = {
    field,
    op: ":",
    value: field === "status" && text === "error" ? "failed" : text,
    isNot: false,
    ...(isOfRoot && { ofRoot: true }),
  };
  // of a call, what is left out would be left out of the root
  if (group !== ERROR || text === null || !isOfRoot) return [condition];
  return [
    condition,
    ...widerThan(text, patterns).map((other) => ({ ...condition, value: other, isNot: true })),
  ];
}

const MAX_WIDER = 5;

/** Patterns that contain all of another one: a search for it finds their errors too. */
function widerThan(pattern: string, patterns: readonly string[]): readonly string[] {
  const pieces = piecesOf(pattern.toLowerCase());
  const isIn = (text: string): boolean => pieces.every((piece) => text.includes(piece));
  return patterns.filter((other) => other !== pattern && isIn(other.toLowerCase())).slice(0, MAX_WIDER);
}

/** Next dimension to group a group by: of calls or of traces, as it is. */
export function nextGroup(groups: readonly string[], of: Subject): string {
  const order = [...(of === "calls" ? ["llm"] : []), "op_name", "svc_user_id", "trace_id"];
  return order.find((one) => !groups.includes(one)) ?? "trace_id";
}
