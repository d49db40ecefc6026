import type { TimeWindow } from "../buckets/buckets.ts";
import { usdOf, type Money } from "../prices/money.ts";
import { join, param, sql, trusted, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { recordsUnder, rowsUnder, type RollupManifest } from "./manifests.ts";
import type { PriceTable } from "./price-table.ts";
import { IS_RECORD, IS_TRACE_SUM } from "./rows.ts";
import { NO_LATENCY } from "./usage-record.ts";

/** Reads `sum(cost)`, as text, with flags such as `priced` and `unpriced`. */
export function moneyOf(
  { costUnit }: PriceTable,
  [amount, priced, unpriced]: readonly [amount: string, priced: number, unpriced: number],
): Money {
  return { usd: priced === 0 ? null : usdOf(BigInt(amount) * BigInt(costUnit)), unpriced: unpriced > 0 };
}

/** Records of manifests, and the traces to select among them. */
export interface TraceRecords {
  readonly project: Project;
  readonly manifests: readonly RollupManifest[];
  readonly prices: PriceTable;
  /** When the root started; of a trace without a root, its first call. */
  readonly started: TimeWindow;
  /** Condition over record columns that the root meets. */
  readonly root: Sql | undefined;
  /** Condition over record columns that some call meets. */
  readonly anyCall: Sql | undefined;
  /** Conditions on `trace_id`, and on the sums of a trace. */
  readonly traces: readonly Sql[];
}

/** Columns of a row per trace, over those of records. */
interface MoreColumns {
  readonly ofTraces?: readonly Sql[];
  readonly ofRecords?: readonly Sql[];
}

/** Records of the root of a trace. */
export const OF_ROOT = sql`(is_first = 1 AND is_root = 1)`;
const NONE = trusted(String(NO_LATENCY));

/**
 * SQL subquery over the records of manifests, or their trace sums, a row per trace: `records`, `is_selected`, `started_us`, the sums `trace_calls`,
 * `failed`, `unfinished`, `tokens`, `cost` and `wasted_cost` in the unit of the prices, whether something used has a price (`priced`,
 * `wasted_priced`) or has none (`unpriced`, `wasted_unpriced`), `root_latency_ms` (`NO_LATENCY` if the root has not ended, or there is none), and `ofTraces`.
 */
export function recordsByTrace(
  { project, manifests, prices, started, root, anyCall, traces }: TraceRecords,
  { ofTraces = [], ofRecords = [] }: MoreColumns = {},
): Sql {
  const everyCall = recordsUnder(project, manifests);
  const { cost, isUsed, isPriced, isUnpriced, keyIndex } = prices;
  const isTrue = (condition: Sql): Sql => sql`max(toUInt8(ifNull(${condition}, 0))) = 1`;
  const selected = [
    sql`started_us >= ${instant(started.startUs)} AND started_us < ${instant(started.endUs)}`,
    ...(root === undefined ? [] : [isTrue(sql`${OF_ROOT} AND ${root}`)]),
    ...(anyCall === undefined ? [] : [sql`trace_id IN (SELECT trace_id FROM ${everyCall} WHERE ${anyCall})`]),
    ...traces,
  ];
  return sql`SELECT trace_id, sum(records) AS records,
      maxIf(started_at_us, is_first = 1) AS started_us,
      sum(calls) AS trace_calls, sum(errors) AS failed, sum(unfinished) AS unfinished,
      sum(total_tokens) AS tokens,
      sum(record_cost) AS cost, max(is_priced) AS priced, max(is_unpriced) AS unpriced,
      sumIf(record_cost, is_wasted = 1) AS wasted_cost, max(is_priced AND is_wasted = 1) AS wasted_priced,
      max(is_unpriced AND is_wasted = 1) AS wasted_unpriced, max(if(${OF_ROOT}, latency_ms, ${NONE})) AS root_latency_ms,
      (${join(selected, " AND ")}) AS is_selected${list(ofTraces)}
    FROM (
      SELECT *, if(is_root = 1, '', '-') AS parent_id, ${keyIndex} AS key_index, ${cost} AS record_cost, ${isUsed} AS is_used,
        ${isPriced} AS is_priced, ${isUnpriced} AS is_unpriced${list(ofRecords)}
      ${rowsUnder(project, manifests, prices.suitsTraceSums ? IS_TRACE_SUM : IS_RECORD)}
    )
    GROUP BY trace_id`;
}

function list(columns: readonly Sql[]): Sql {
  return join(
    columns.map((column) => sql`, ${column}`),
    "",
  );
}

const [FIRST_US, LAST_US] = [Date.UTC(1800, 0, 1) * 1000, Date.UTC(2400, 0, 1) * 1000];

function instant(us: number) {
  return param("Int64", Math.min(Math.max(us, FIRST_US), LAST_US));
}
