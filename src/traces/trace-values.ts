import { sql, trusted, type Sql } from "../query/sql.ts";
import { assertNever } from "../shared/assert-never.ts";
import { NO_LATENCY } from "../usage-rollup/usage-record.ts";
import { attodollars, knownOf, type Money } from "../prices/money.ts";
import type { Figures } from "./figures.ts";

/** Values of a trace that lists are sorted by. */
export const TRACE_VALUES = [
  "started_at",
  "total_cost",
  "total_tokens",
  "latency",
  "calls",
  "failed",
  "wasted_cost",
] as const;
export type TraceValue = (typeof TRACE_VALUES)[number];

export interface TraceWithFigures {
  readonly traceId: string;
  readonly startedUs: number;
  readonly latencyMs: number | undefined;
  readonly figures: Figures;
}

/** Value of a trace: costs in 10^-18 USD, times in ms or us; undefined if unknown. */
export function valueOf(
  { startedUs, latencyMs, figures }: TraceWithFigures,
  name: TraceValue,
): bigint | undefined {
  switch (name) {
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
      return assertNever(name);
  }
}

function amountOf(money: Money): bigint | undefined {
  const known = knownOf(money);
  return known === null ? undefined : attodollars(known);
}

/** SQL over the columns of `recordsByTrace`: the same value, and whether it is unknown. `costUnit`: 10^-18 USD per unit. */
export function valueColumns(
  name: TraceValue,
  costUnit: number,
): { readonly isUnknown: Sql; readonly value: Sql } {
  const unit = trusted(String(costUnit));
  const known = (value: Sql) => ({ isUnknown: sql`0`, value });
  switch (name) {
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
      return { isUnknown: sql`unpriced > 0 AND priced = 0`, value: sql`toInt128(cost) * ${unit}` };
    case "wasted_cost":
      return {
        isUnknown: sql`wasted_unpriced > 0 AND wasted_priced = 0`,
        value: sql`toInt128(wasted_cost) * ${unit}`,
      };
    default:
      return assertNever(name);
  }
}
