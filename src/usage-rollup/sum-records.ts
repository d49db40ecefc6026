import type { Engine } from "../store/engine.ts";
import { inTurns } from "../fairness/turns.ts";
import { eachItem } from "../shared/steps.ts";
import { RowBinaryReader } from "../store/rows/row-binary.ts";
import { join, param, sql, trusted, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { COUNT_SLOTS, countFields } from "../usage/count-fields.ts";
import type { StatedCost } from "../usage/stated-cost.ts";
import { FIFTEEN_MINUTES_US, NO_LATENCY } from "./usage-record.ts";
import { recordCount, recordsUnder, type RollupManifest } from "./manifests.ts";
import { countTiersBelow } from "./input-tier.ts";
import type { PriceBreakpoints } from "./price-breakpoints.ts";
import type { RollupQuery } from "./rollup-query.ts";

/** Selection of usage records and the keys that group them into sums. */
export interface AggregationPlan {
  readonly project: Project;
  readonly manifests: readonly RollupManifest[];
  readonly query: RollupQuery;
  /** Starts of the intervals, in microseconds since the epoch, ascending; the first one includes earlier calls. */
  readonly intervalStartsUs: readonly number[];
  readonly prices: PriceBreakpoints;
  readonly withUnits: boolean;
  /** True if no interval starts within 15 aligned minutes, so the 15-minute projection can serve the sum. */
  readonly by15Minutes: boolean;
}

/** Latency sums of ended calls, in milliseconds. */
export interface LatencySums {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
}

const NO_LATENCIES: LatencySums = { count: 0, sum: 0, min: 0, max: 0 };

/** Sums of records with one price key. */
export interface Quantities {
  readonly records: number;
  readonly counts: Float64Array;
  readonly uncached: number;
  readonly chargedRequests: number;
  /** Quantity per unit of the price key, in its order. */
  readonly units: readonly number[];
}

/** Sum of the records of one interval, price tier, price key and set of field values. */
export interface RecordSum extends Quantities {
  /** Start of the interval, in microseconds since the epoch; in the same time bucket as the calls. */
  readonly atUs: number;
  /** Values of the `group_by` fields; '' where absent. */
  readonly fields: readonly string[];
  readonly calls: number;
  readonly errors: number;
  readonly latency: LatencySums;
  /** Every latency (ms) if the query needs percentiles; otherwise empty. */
  readonly latencies: readonly number[];
  readonly stated: StatedCost;
  /** See `PriceKey`. */
  readonly priceKey: string;
  /** Number of `prices.inputs` below the records' input tokens. */
  readonly priceTier: number;
}

/** Record sums, decoded lazily on each iteration to bound memory. */
export interface SummedRecords {
  readonly sums: Iterable<RecordSum>;
  readonly prices: PriceBreakpoints;
}

/** `atUs` of records that the condition excludes; earlier than every interval. */
const OUTSIDE = Number.MIN_SAFE_INTEGER;

/** Sums the records of plans, each in one statement. `changed`: one does not find each record exactly once. */
export async function sumAll(
  engine: Engine,
  plans: readonly AggregationPlan[],
  signal: AbortSignal,
): Promise<readonly SummedRecords[] | "changed"> {
  const all = await Promise.all(
    plans.map(async (plan) => {
      const bytes = await engine.bytes(statementOf(plan), "RowBinary", {
        name: "usage_rollup_sum",
        limits: "heavy",
        ...(plan.query.readsCalls !== true && { dependsOn: ["usage_rollup"] }),
        signal,
      });
      const sums = { [Symbol.iterator]: () => readSums(bytes, plan) };
      let found = 0;
      await inTurns(eachItem(sums, ({ records }) => (found += records)));
      return { sums, prices: plan.prices, isWhole: found === recordCount(plan.manifests) };
    }),
  );
  return all.every(({ isWhole }) => isWhole) ? all : "changed";
}

function* readSums(bytes: Buffer, plan: AggregationPlan): Generator<RecordSum> {
  const reader = new RowBinaryReader(bytes);
  while (!reader.done) yield readSum(reader, plan);
}

function statementOf({
  project,
  manifests,
  query,
  intervalStartsUs,
  prices,
  withUnits,
  by15Minutes,
}: AggregationPlan): Sql {
  const { fields, condition, latencies } = query;
  const ifRequested = (value: Sql, instead: string): Sql =>
    condition === undefined ? value : sql`if(ifNull(${condition}, 0), ${value}, ${trusted(instead)})`;
  const at = trusted(
    by15Minutes ? `intDiv(started_at_us, ${FIFTEEN_MINUTES_US}) * ${FIFTEEN_MINUTES_US}` : "started_at_us",
  );
  const begin = sql`roundDown(${at}, ${param("Array(Int64)", intervalStartsUs)})`;
  const ended = trusted(`latency_ms != ${NO_LATENCY}`);
  const sums = [
    sql`count()`,
    ...[
      "calls",
      "errors",
      ...countFields.map(({ wire }) => wire),
      "uncached_prompt_tokens",
      "billed_requests",
      "stated_ticks",
      "stated_usages",
    ].map((name) => trusted(`sum(${name})`)),
    ...(latencies === "none"
      ? []
      : [
          sql`countIf(${ended})`,
          ...["sumIf", "minIf", "maxIf"].map((name) => sql`${trusted(name)}(latency_ms, ${ended})`),
        ]),
  ].map((number) => sql`toInt64(${number})`);
  const lists = [
    ...(withUnits ? [sql`CAST(sumForEach(units), 'Array(Int64)')`] : []),
    ...(latencies === "each" ? [sql`groupArrayIf(latency_ms, ${ended})`] : []),
  ];
  const keys = [
    sql`toInt64(${ifRequested(begin, `toInt64(${OUTSIDE})`)})`,
    sql`price_key`,
    sql`toInt64(${countTiersBelow(prices.inputs)})`,
    ...fields.map((name) => ifRequested(sql`CAST(${trusted(name)}, 'String')`, "''")),
  ];
  return sql`SELECT ${join([...keys, ...sums, ...lists], ", ")}
    FROM ${recordsUnder(project, manifests)}
    GROUP BY ${trusted(keys.map((_, index) => index + 1).join(", "))}`;
}

function readSum(reader: RowBinaryReader, { query, withUnits }: AggregationPlan): RecordSum {
  const { fields, latencies } = query;
  const atUs = reader.int64();
  const priceKey = reader.string();
  const priceTier = reader.int64();
  const values = fields.map(() => reader.string());
  const [records, calls, errors] = [reader.int64(), reader.int64(), reader.int64()];
  const counts = Float64Array.from({ length: COUNT_SLOTS }, () => reader.int64());
  const [uncached, chargedRequests] = [reader.int64(), reader.int64()];
  const stated = { ticks: reader.int64(), usages: reader.int64() };
  const latency =
    latencies === "none"
      ? NO_LATENCIES
      : { count: reader.int64(), sum: reader.int64(), min: reader.int64(), max: reader.int64() };
  const units = withUnits ? reader.int64s() : [];
  const each = latencies === "each" ? reader.int64s() : [];
  const of = { atUs, priceKey, priceTier, fields: values, calls, errors, latency, latencies: each, stated };
  return { ...of, records, counts, uncached, chargedRequests, units };
}

/** True unless the condition excludes the records. */
export function isRequested({ atUs }: RecordSum): boolean {
  return atUs !== OUTSIDE;
}
