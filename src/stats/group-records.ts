import { costFields } from "../prices/cost-fields.ts";
import type { SummedRow } from "../usage-rollup/sums.ts";
import { usdOf, type Usd } from "../prices/money.ts";
import type { StatsPlan } from "./plan/plan-stats.ts";
import { join, param, sql, trusted, type Sql } from "../query/sql.ts";
import { RowBinaryReader } from "../store/rows/row-binary.ts";
import { countFields } from "../usage/count-fields.ts";
import type { LatencySums } from "../usage-rollup/sum-records.ts";
import { OF_ROOT, recordsByTrace, type TraceRecords } from "../usage-rollup/records-by-trace.ts";
import { CALL_FIELDS, NO_LATENCY } from "../usage-rollup/usage-record.ts";
import { rootValues } from "../traces/read/root-values.ts";

export interface GroupRecords {
  readonly records: TraceRecords;
  /** `TracesPlan.place` */
  readonly place: Sql;
  readonly plan: StatsPlan;
}

/** Sums of the selected traces of one group and bucket; or of the traces that are not selected. */
export interface RecordGroup extends SummedRow {
  readonly isSelected: boolean;
  readonly bucketUs: number;
  /** Values of the root, as `Dimensions.callKey` prints them. */
  readonly key: string;
  readonly records: number;
  readonly latency: LatencySums;
  /** Every latency if percentiles are requested. */
  readonly latencies: readonly number[];
}

const SUMMED = [...countFields.map(({ wire }) => wire), "stated_usages", "stated_ticks"] as const;
const int64s = (values: readonly Sql[]): Sql =>
  sql`CAST([${join(
    values.map((value) => sql`toInt64(${value})`),
    ", ",
  )}], 'Array(Int64)')`;
const number = (value: number): Sql => trusted(String(value));
const ENDED = sql`root_latency_ms != ${number(NO_LATENCY)}`;

/** Rows of `readGroups`: the trace sums of the selected traces, added up by their root's key and bucket. */
export function groupsStatement({ records, place, plan }: GroupRecords): Sql {
  const { kinds } = records.prices;
  const { all, callKey } = plan.dimensions;
  const isStored = all.every(({ field }) => (CALL_FIELDS as readonly string[]).includes(field));
  const fields = join(
    all.map(({ field }) => sql`anyIf(${trusted(field)}, ${OF_ROOT})`),
    ", ",
  );
  const key = isStored
    ? sql`arrayStringConcat(arrayMap(value -> if(value = '', '', toJSONString(value)), root_fields), '\n')`
    : sql`looked_up.values[1]`;
  const lookup = isStored
    ? sql``
    : sql`LEFT JOIN ${rootValues(records.project, place, callKey!)} AS looked_up USING trace_id`;
  const kindsOf = (of: (kind: Sql, place: number) => Sql): readonly Sql[] =>
    kinds.map((_, place) => of(number(place), place));
  const ofRecords = kindsOf(
    (kind, place) =>
      sql`${kinds[place]!.cost} AS cost_${kind}, ${kinds[place]!.isPriced} AS is_priced_${kind}`,
  );
  const ofTraces = [
    ...(isStored ? [sql`CAST([${fields}], 'Array(String)') AS root_fields`] : []),
    sql`max(${OF_ROOT} AND status = 'error') AS root_failed`,
    ...SUMMED.map((name) => sql`sum(${trusted(name)}) AS ${trusted(`sum_${name}`)}`),
    ...kindsOf(
      (kind) => sql`sum(cost_${kind}) AS sum_cost_${kind}, max(is_priced_${kind}) AS priced_${kind}`,
    ),
  ];
  const counts = [
    ...["trace_calls", "failed"].map((name) => sql`sum(${trusted(name)})`),
    ...SUMMED.map((name) => sql`sum(${trusted(`sum_${name}`)})`).slice(0, -1),
    ...[
      "count()",
      "countIf(root_failed)",
      "countIf(failed > 0)",
      "sum(unpriced)",
      "sum(wasted_unpriced)",
    ].map(trusted),
  ];
  const amount = (isPriced: Sql, cost: Sql): Sql => sql`if(max(${isPriced}) > 0, toString(sum(${cost})), '')`;
  const amounts = [
    ...kindsOf((kind) => amount(sql`priced_${kind}`, sql`sum_cost_${kind}`)),
    amount(sql`wasted_priced`, sql`wasted_cost`),
  ];
  const latency = ["sumIf", "minIf", "maxIf"].map((name) => sql`${trusted(name)}(root_latency_ms, ${ENDED})`);
  const each = plan.latency?.percentiles.length
    ? sql`groupArrayIf(toInt64(root_latency_ms), ${ENDED})`
    : sql`CAST([], 'Array(Int64)')`;
  return sql`SELECT toUInt8(is_selected), toInt64(if(is_selected, bucket, 0)) AS at, if(is_selected, group_key, '') AS key,
      ${int64s([sql`sum(records)`, sql`sum(sum_stated_ticks)`, ...counts])},
      ${join(amounts, ", ")},
      ${int64s([sql`countIf(${ENDED})`, ...latency])}, ${each}
    FROM (SELECT *, ${key} AS group_key, roundDown(started_us, ${param("Array(Int64)", plan.buckets.startsUs)}) AS bucket
      FROM (${recordsByTrace(records, { ofTraces, ofRecords })}) AS by_trace ${lookup})
    GROUP BY is_selected, at, key`;
}

/** Reads the rows of `groupsStatement`. `costUnit`: 10^-18 USD per unit. */
export function* readGroups(bytes: Buffer, costUnit: number): Generator<RecordGroup> {
  const reader = new RowBinaryReader(bytes);
  const amount = (): Usd | null => {
    const text = reader.string();
    return text === "" ? null : usdOf(BigInt(text) * BigInt(costUnit));
  };
  while (!reader.done) {
    const [isSelected, bucketUs, key] = [reader.uint8() === 1, reader.int64(), reader.string()];
    const [records, statedTicks, ...counts] = reader.int64s() as [number, number, ...number[]];
    const costs = costFields.map(amount);
    const wasted = amount();
    const [count, sum, min, max] = reader.int64s() as [number, number, number, number];
    const latency = { count, sum, min, max };
    yield {
      isSelected,
      bucketUs,
      key,
      records,
      latency,
      latencies: reader.int64s(),
      counts,
      statedTicks,
      costs,
      wasted,
    };
  }
}
