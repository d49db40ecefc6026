import type { BodyOf, Query } from "../api/routes.ts";
import type { AskedFor } from "./query.ts";
import { allOf, FIELDS, isSum, operandOf, wordIn, type Condition, type FieldName } from "./search.ts";

type Body = BodyOf<"/traces/query">;

/** Members of a filter, which selects without reading calls. */
const FILTERS: Readonly<Record<string, string>> = {
  user: "svc_user_ids",
  run: "svc_run_ids",
  thread: "thread_ids",
  turn: "turn_ids",
};

/** Words and conditions are true of one call together; those that `isOfRoot` of the root. */
export function conditionsOf({
  search,
  operand,
}: AskedFor): Pick<Body, "filter" | "query" | "any_call" | "totals"> {
  if (search === undefined) return operand === undefined ? {} : { any_call: { query: queryOf([operand]) } };
  const traceIds: string[] = [];
  const ofCall = search.words.map((word) => wordIn(word, ["inputs", "output", "exception"]));
  const filter: Record<string, readonly string[]> = {};
  const ofRoot: unknown[] = [];
  const sums = search.conditions.filter(isSum);
  for (const condition of search.conditions) {
    const { field, value } = condition;
    const member = FILTERS[field];
    if (isSum(condition)) continue;
    if (isOfRoot(condition)) ofRoot.push(operandInTrace(condition));
    else if (field === "trace" && value !== null) traceIds.push(value);
    else if (member !== undefined && value !== null && filter[member] === undefined) filter[member] = [value];
    else ofCall.push(operandInTrace(condition));
  }
  const anyCall = {
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(ofCall.length > 0 && { query: queryOf(ofCall) }),
  };
  return {
    ...(traceIds.length > 0 && { filter: { trace_ids: traceIds } }),
    ...(ofRoot.length > 0 && { query: queryOf(ofRoot) }),
    ...(sums.length > 0 && { totals: totalsOf(sums) }),
    ...(Object.keys(anyCall).length > 0 && { any_call: anyCall }),
  };
}

const LIMITS = { ">": "gt", ">=": "gte", "<": "lt", "<=": "lte", ":": undefined } as const;

/** Limits of sums over a trace, the strictest of each kind. */
function totalsOf(sums: readonly Condition[]): NonNullable<Body["totals"]> {
  const totals: Record<string, Record<string, number>> = {};
  for (const { field, op, value } of sums) {
    const limits = (totals[FIELDS[field as FieldName].path] ??= {});
    const [limit, number] = [LIMITS[op]!, Number(value)];
    const known = limits[limit] ?? number;
    limits[limit] = op.startsWith(">") ? Math.max(known, number) : Math.min(known, number);
  }
  return totals;
}

/** True for conditions on a root or a whole trace: sums, `root.`, negated conditions, latency and success. */
export function isOfRoot(condition: Condition): boolean {
  const { field, value, isNot, ofRoot = false } = condition;
  return (
    isSum(condition) || ofRoot || isNot || field === "latency" || (field === "status" && value === "success")
  );
}

function queryOf(operands: readonly unknown[]): Query {
  return { $expr: allOf(operands) } as Query;
}

const HAS_NO_END = { $eq: [{ $getField: "ended_at" }, { $literal: null }] };
const HAS_NO_EXCEPTION = { $eq: [{ $getField: "exception" }, { $literal: null }] };
export const OF_STATUS: Readonly<Record<string, object>> = {
  failed: { $not: [HAS_NO_EXCEPTION] },
  running: HAS_NO_END,
  success: { $and: [HAS_NO_EXCEPTION, { $not: [HAS_NO_END] }] },
};

function operandInTrace(condition: Condition): unknown {
  const { field, value, isNot, ofRoot = false } = condition;
  // of the root it is the status of the service, by which traces are counted
  const isStatus = field === "status" && (!ofRoot || value === "failed");
  const ofStatus = isStatus ? OF_STATUS[value ?? ""] : undefined;
  if (ofStatus === undefined) return operandOf(condition);
  return isNot ? { $not: [ofStatus] } : ofStatus;
}

/** The same without limits of sums, which usage does not take. */
export function usageOfTraces(query: AskedFor): Pick<Body, "filter" | "query" | "any_call"> {
  const { totals: _, ...conditions } = conditionsOf(query);
  return conditions;
}
