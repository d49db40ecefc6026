import { assertNever } from "../../shared/assert-never.ts";
import { sql, trusted, type Sql } from "../../query/sql.ts";
import { NO_LATENCY } from "../../usage-rollup/usage-record.ts";
import { isUnknown, type Cost, type Figures } from "../figures.ts";

/** Sort keys of traces. */
export const ORDERS = [
  "started_at",
  "total_cost",
  "total_tokens",
  "latency",
  "calls",
  "failed",
  "wasted_cost",
] as const;
export type TraceOrder = (typeof ORDERS)[number];
export type Direction = "desc" | "asc";

/** Place of a trace in an order: unknown values last, then ascending by `value` (negated in descending order) and trace id. */
export interface Rank {
  readonly isUnknown: boolean;
  readonly value: bigint;
  readonly traceId: string;
}

export interface Rankable {
  readonly traceId: string;
  readonly startedUs: number;
  readonly latencyMs: number | undefined;
  readonly figures: Figures;
}

export function rankOf(trace: Rankable, order: TraceOrder, direction: Direction): Rank {
  const value = valueOf(trace, order);
  const signed = direction === "desc" ? -(value ?? 0n) : (value ?? 0n);
  return { isUnknown: value === undefined, value: signed, traceId: trace.traceId };
}

function valueOf({ startedUs, latencyMs, figures }: Rankable, order: TraceOrder): bigint | undefined {
  switch (order) {
    case "started_at":
      return BigInt(startedUs);
    case "latency":
      return latencyMs === undefined ? undefined : BigInt(latencyMs);
    case "calls":
      return BigInt(figures.calls);
    case "failed":
      return BigInt(figures.failed);
    case "total_tokens":
      return BigInt(figures.tokens);
    case "total_cost":
      return amountOf(figures.cost);
    case "wasted_cost":
      return amountOf(figures.wasted);
    default:
      return assertNever(order);
  }
}

function amountOf(cost: Cost): bigint | undefined {
  return isUnknown(cost) ? undefined : cost.amount;
}

export function compareRanks(one: Rank, other: Rank): number {
  if (one.isUnknown !== other.isUnknown) return Number(one.isUnknown) - Number(other.isUnknown);
  if (one.value !== other.value) return one.value < other.value ? -1 : 1;
  return Buffer.compare(Buffer.from(one.traceId), Buffer.from(other.traceId));
}

/** SQL over the columns of `recordsByTrace`: the rank as a tuple that sorts ascending. `costUnit`: 10^-18 USD per unit. */
export function rankTuple(order: TraceOrder, direction: Direction, costUnit: number): Sql {
  const { isUnknown, value } = columnsOf(order, trusted(String(costUnit)));
  const signed = sql`toInt128(${value}) * ${trusted(direction === "desc" ? "-1" : "1")}`;
  return sql`(toUInt8(${isUnknown}), if(${isUnknown}, toInt128(0), ${signed}), trace_id)`;
}

function columnsOf(order: TraceOrder, unit: Sql): { readonly isUnknown: Sql; readonly value: Sql } {
  const known = (value: Sql) => ({ isUnknown: sql`0`, value });
  switch (order) {
    case "started_at":
      return known(sql`started_us`);
    case "latency":
      return {
        isUnknown: sql`root_latency_ms = ${trusted(String(NO_LATENCY))}`,
        value: sql`root_latency_ms`,
      };
    case "calls":
      return known(sql`trace_calls`);
    case "failed":
      return known(sql`failed`);
    case "total_tokens":
      return known(sql`tokens`);
    case "total_cost":
      return { isUnknown: sql`used > 0 AND priced = 0`, value: sql`toInt128(cost) * ${unit}` };
    case "wasted_cost":
      return {
        isUnknown: sql`wasted_used > 0 AND wasted_priced = 0`,
        value: sql`toInt128(wasted_cost) * ${unit}`,
      };
    default:
      return assertNever(order);
  }
}
