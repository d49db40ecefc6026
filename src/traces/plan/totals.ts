import { z } from "zod";
import { wholeNumber } from "../../http/schemas/zod-issues.ts";
import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import { knownMembers } from "../../http/schemas/known-names.ts";
import { valueColumns, valueOf, type TraceValue, type TraceWithFigures } from "../trace-values.ts";

/** Each comparison in SQL and in memory. */
const OPERATORS = {
  gt: { sign: ">", holds: (value: bigint, limit: bigint) => value > limit },
  gte: { sign: ">=", holds: (value: bigint, limit: bigint) => value >= limit },
  lt: { sign: "<", holds: (value: bigint, limit: bigint) => value < limit },
  lte: { sign: "<=", holds: (value: bigint, limit: bigint) => value <= limit },
} as const;
type Operator = keyof typeof OPERATORS;

/** Limits of a total, all of which hold. */
function limits(limit: z.ZodNumber | ReturnType<typeof wholeNumber>) {
  return knownMembers({
    gt: limit.optional(),
    gte: limit.optional(),
    lt: limit.optional(),
    lte: limit.optional(),
  }).optional();
}

const count = limits(wholeNumber().min(0));
const MAX_USD = 1e12;
const usd = limits(z.number().min(0).max(MAX_USD)).describe("USD; of a `partial` cost, what is known of it");

export const totalsFields = knownMembers({
  total_cost: usd,
  wasted_cost: usd,
  total_tokens: count,
  calls: count,
  failed: count,
  latency_ms: count,
}).meta({ id: "TraceTotals", description: "Limits of the figures of a trace: `gt`, `gte`, `lt`, `lte`" });

export type RequestedTotals = z.infer<typeof totalsFields>;

export interface TotalCondition {
  readonly value: TraceValue;
  readonly operator: Operator;
  /** Costs in 10^-18 USD. */
  readonly limit: bigint;
}

export function totalConditions(totals: RequestedTotals): readonly TotalCondition[] {
  return Object.entries(totals).flatMap(([name, some = {}]) => {
    const value = name === "latency_ms" ? "latency" : (name as TraceValue);
    const limits = Object.entries(some) as readonly (readonly [Operator, number])[];
    return limits.map(([operator, limit]) => ({
      value,
      operator,
      limit: value.endsWith("_cost") ? amountOf(limit) : BigInt(limit),
    }));
  });
}

const DIGITS = 18;

/** USD in units of 10^-18, as exactly as the decimal is written. */
function amountOf(usd: number): bigint {
  const [mantissa, exponent] = usd.toExponential().split("e") as [string, string];
  const [whole, fraction = ""] = mantissa.split(".") as [string, string?];
  const zeros = DIGITS + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  return zeros >= 0 ? digits * 10n ** BigInt(zeros) : digits / 10n ** BigInt(-zeros);
}

/** True if the figures of a trace meet all conditions; unknown ones meet none. */
export function meetsTotals(trace: TraceWithFigures, conditions: readonly TotalCondition[]): boolean {
  return conditions.every(({ value: name, operator, limit }) => {
    const value = valueOf(trace, name);
    return value !== undefined && OPERATORS[operator].holds(value, limit);
  });
}

/** SQL conditions over the columns of `recordsByTrace`. */
export function totalsInRecords(conditions: readonly TotalCondition[], costUnit: number): readonly Sql[] {
  return conditions.map(({ value: name, operator, limit }) => {
    const { isUnknown, value } = valueColumns(name, costUnit);
    const compared = trusted(OPERATORS[operator].sign);
    return sql`(NOT (${isUnknown}) AND toInt128(${value}) ${compared} toInt128(${param("String", String(limit))}))`;
  });
}
