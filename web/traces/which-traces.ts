import type { components } from "../api/schema.d.ts";
import type { AskedFor } from "../state/query.ts";
import { isNamed, numberOf, operandOfCalls, type Condition } from "../state/search.ts";
import type { TimeRange } from "../state/time-range.ts";

export interface TracesAsked {
  readonly project: string;
  readonly window: TimeRange;
  readonly query: Pick<AskedFor, "operand" | "search">;
}

type Body = components["schemas"]["TracesQueryReq"];
type AnyCall = NonNullable<Body["any"]>[number];
type Totals = NonNullable<Body["totals"]>;
type Which = { readonly [Name in "filter" | "query" | "any" | "totals"]?: NonNullable<Body[Name]> };

/** Which traces are asked for, without their order. */
export function whichOf({ project, window, query }: TracesAsked) {
  return {
    project_id: project,
    start: new Date(window.fromMs).toISOString(),
    ...(window.toMs !== undefined && { end: new Date(window.toMs).toISOString() }),
    ...conditionsOf(query),
  };
}

/** Words and conditions are of any call of a trace; what is denied is of its root; sums are of the whole trace. */
function conditionsOf({ search, operand }: TracesAsked["query"]): Which {
  if (search === undefined)
    return operand === undefined ? {} : { any: [{ query: { $expr: operand } } as AnyCall] };
  const any: AnyCall[] = search.words.map((text) => ({ text }));
  const totals: Record<string, Record<string, number>> = {};
  const ofRoot: unknown[] = [];
  const traceIds: string[] = [];
  const status = search.conditions.find(
    ({ field, isNot, value }) => field === "status" && !isNot && value === "failed",
  );
  const op = search.conditions.find(({ field, isNot, value }) => field === "op" && !isNot && value !== null);
  // a failed call of this operation, not one of each
  const together = status !== undefined && op !== undefined;
  if (together) any.push({ op_names: [op.value ?? ""], status: ["error"] });
  for (const condition of search.conditions) {
    if (together && (condition === status || condition === op)) continue;
    const sum = sumOf(condition);
    if (sum !== undefined) for (const { name, range } of sum) totals[name] = { ...totals[name], ...range };
    else if (condition.field === "trace" && condition.value !== null && !condition.isNot)
      traceIds.push(condition.value);
    else if (condition.isNot) ofRoot.push(operandOfCalls({ words: [], conditions: [condition] }));
    else any.push(anyCallOf(condition));
  }
  return {
    ...(traceIds.length > 0 && { filter: { trace_ids: traceIds } }),
    ...(ofRoot.length > 0 && { query: { $expr: { $and: ofRoot } } as NonNullable<Body["query"]> }),
    ...(any.length > 0 && { any }),
    ...(Object.keys(totals).length > 0 && { totals }),
  };
}

const SUMS: Readonly<Record<string, keyof Totals>> = {
  cost: "total_cost",
  tokens: "total_tokens",
  latency: "latency_ms",
};
const BOUNDS = { ">": ["gt"], ">=": ["gte"], "<": ["lt"], "<=": ["lte"], ":": ["gte", "lte"] } as const;

/** Conditions on what the whole trace comes to. */
function sumOf({ field, op, value, isNot }: Condition) {
  if (field === "status") {
    const none = { lte: 0 };
    if (value === "success" && !isNot)
      return [
        { name: "errors", range: none },
        { name: "unfinished", range: none },
      ];
    if (value === "failed" && isNot) return [{ name: "errors", range: none }];
    if (value === "running" && isNot) return [{ name: "unfinished", range: none }];
    return undefined;
  }
  const name = Object.hasOwn(SUMS, field) ? SUMS[field] : undefined;
  if (name === undefined) return undefined;
  const number = numberOf(field, value ?? "") ?? 0;
  return [{ name, range: Object.fromEntries(BOUNDS[op].map((bound) => [bound, number])) }];
}

function anyCallOf(condition: Condition): AnyCall {
  const { field, value } = condition;
  if (value !== null && isNamed(field)) {
    if (field === "model") return { models: [value] };
    if (field === "user") return { svc_user_ids: [value] };
    if (field === "status") return { status: [value === "running" ? "running" : "error"] };
  }
  return { query: { $expr: operandOfCalls({ words: [], conditions: [condition] }) } } as AnyCall;
}
