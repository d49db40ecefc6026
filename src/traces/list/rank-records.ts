import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import type { Engine } from "../../store/engine.ts";
import { moneyOf, recordsByTrace, type TraceRecords } from "../../usage-rollup/records-by-trace.ts";
import { recordCount } from "../../usage-rollup/manifests.ts";
import { NO_FIGURES, type Figures } from "../figures.ts";
import type { TraceValue } from "../trace-values.ts";
import { rankTuple, type Direction, type Rank, type RankedTrace } from "./order.ts";

/** Part of an order. */
export interface Page {
  readonly order: TraceValue;
  readonly direction: Direction;
  /** Last trace of the previous page. */
  readonly after: Rank | undefined;
  readonly limit: number;
}

export interface RankedTraces {
  readonly traces: number;
  readonly total: Figures;
  /** First traces of the page. */
  readonly ranks: readonly RankedTrace[];
}

interface Row {
  readonly records: string;
  readonly traces: string;
  readonly calls: string;
  readonly failed: string;
  readonly unfinished: string;
  readonly tokens: string;
  readonly costs: readonly [amount: string, priced: number, unpriced: number];
  readonly wasted: Row["costs"];
  readonly ranks: readonly (readonly [isUnknown: number, value: string, traceId: string, calls: string])[];
}

/** Ranks and sums the selected traces in one statement. `changed`: an hour was materialized meanwhile. */
export async function rankRecords(
  engine: Engine,
  { records, page }: { readonly records: TraceRecords; readonly page: Page },
  signal: AbortSignal,
): Promise<RankedTraces | "changed"> {
  const [row] = await engine.rows<Row>(statementOf(records, page), {
    name: "traces_rank",
    limits: "heavy",
    signal,
  });
  const expected = recordCount(records.manifests);
  if (row === undefined || Number(row.records) !== expected) return expected === 0 ? NOTHING : "changed";
  return {
    traces: Number(row.traces),
    total: {
      calls: Number(row.calls),
      failed: Number(row.failed),
      unfinished: Number(row.unfinished),
      tokens: Number(row.tokens),
      cost: moneyOf(records.prices, row.costs),
      wasted: moneyOf(records.prices, row.wasted),
    },
    ranks: row.ranks.map(([isUnknown, value, traceId, calls]) => ({
      isUnknown: isUnknown === 1,
      value: BigInt(value),
      traceId,
      callCount: Number(calls),
    })),
  };
}

const NOTHING: RankedTraces = { traces: 0, total: NO_FIGURES, ranks: [] };

function statementOf(records: TraceRecords, page: Page): Sql {
  const { order, direction, after, limit } = page;
  const selected = trusted("is_selected");
  const byTrace = recordsByTrace(records);
  const isAfter = after === undefined ? selected : sql`${selected} AND rank > ${tupleOf(after)}`;
  const sum = (column: string): Sql => sql`toString(sumIf(${trusted(column)}, ${selected}))`;
  const any = (column: string): Sql => sql`toUInt8(countIf(${selected} AND ${trusted(column)} > 0) > 0)`;
  return sql`SELECT toString(sum(records)) AS records, toString(countIf(${selected})) AS traces,
      ${sum("trace_calls")} AS calls, ${sum("failed")} AS failed, ${sum("unfinished")} AS unfinished, ${sum("tokens")} AS tokens,
      (${sum("cost")}, ${any("priced")}, ${any("unpriced")}) AS costs,
      (${sum("wasted_cost")}, ${any("wasted_priced")}, ${any("wasted_unpriced")}) AS wasted,
      arrayMap(ranked -> (ranked.1.1, toString(ranked.1.2), ranked.1.3, toString(ranked.2)),
        groupArraySortedIf(${trusted(String(limit))})((rank, trace_calls), ${isAfter})) AS ranks
    FROM (SELECT *, ${rankTuple(order, direction, records.prices.costUnit)} AS rank FROM (${byTrace}))`;
}

function tupleOf({ isUnknown, value, traceId }: Rank): Sql {
  return sql`(toUInt8(${trusted(isUnknown ? "1" : "0")}), toInt128(${param("String", String(value))}), ${param("String", traceId)})`;
}
