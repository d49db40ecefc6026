import { attodollars, knownOf, type Money } from "../prices/money.ts";
import { sql, trusted, type Sql } from "../query/sql.ts";
import { NO_LATENCY } from "../usage-rollup/usage-record.ts";
import type { Figures } from "./figures.ts";

export interface TraceWithFigures {
  readonly traceId: string;
  readonly startedUs: number;
  readonly latencyMs: number | undefined;
  readonly figures: Figures;
}

/** Value of a trace, of its figures and in SQL over the columns of `recordsByTrace`. */
interface Definition {
  /** Costs in 10^-18 USD, times in ms or us; undefined if unknown. */
  readonly of: (trace: TraceWithFigures) => bigint | undefined;
  readonly sql: Sql;
  readonly isUnknown: Sql;
  /** True for a cost: `sql` is in units of the prices. */
  readonly isCost: boolean;
}

function known(of: (trace: TraceWithFigures) => number, column: string): Definition {
  return { of: (trace) => BigInt(of(trace)), sql: trusted(column), isUnknown: sql`0`, isCost: false };
}

/** `prefix`: of the columns of the cost. */
function cost(of: (figures: Figures) => Money, prefix: string): Definition {
  const column = (name: string): Sql => trusted(prefix + name);
  const amount = ({ figures }: TraceWithFigures): bigint | undefined => {
    const usd = knownOf(of(figures));
    return usd === null ? undefined : attodollars(usd);
  };
  const isUnknown = sql`${column("unpriced")} > 0 AND ${column("priced")} = 0`;
  return { of: amount, sql: column("cost"), isUnknown, isCost: true };
}

/** Values that lists are sorted by. */
const VALUES = {
  started_at: known(({ startedUs }) => startedUs, "started_us"),
  total_cost: cost((figures) => figures.cost, ""),
  total_tokens: known(({ figures }) => figures.tokens, "tokens"),
  latency: {
    of: ({ latencyMs }) => (latencyMs === undefined ? undefined : BigInt(latencyMs)),
    sql: sql`root_latency_ms`,
    isUnknown: sql`root_latency_ms = ${trusted(String(NO_LATENCY))}`,
    isCost: false,
  },
  calls: known(({ figures }) => figures.calls, "trace_calls"),
  failed: known(({ figures }) => figures.failed, "failed"),
  wasted_cost: cost((figures) => figures.wasted, "wasted_"),
} as const satisfies Record<string, Definition>;

export type TraceValue = keyof typeof VALUES;
export const TRACE_VALUES = Object.keys(VALUES) as TraceValue[];

/** Value of a trace; undefined if unknown. */
export function valueOf(trace: TraceWithFigures, name: TraceValue): bigint | undefined {
  return VALUES[name].of(trace);
}

/** SQL of the same value, and whether it is unknown. `costUnit`: 10^-18 USD per unit. */
export function valueColumns(
  name: TraceValue,
  costUnit: number,
): { readonly isUnknown: Sql; readonly value: Sql } {
  const { sql: column, isUnknown, isCost } = VALUES[name];
  return { isUnknown, value: isCost ? sql`toInt128(${column}) * ${trusted(String(costUnit))}` : column };
}
