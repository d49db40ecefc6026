import { trusted } from "../query/sql.ts";
import { countFields } from "../usage/count-fields.ts";
import { EMPTY_RECORD, FIFTEEN_MINUTES_US, NO_LATENCY, type UsageRecord } from "./usage-record.ts";

/** Kinds of rows of `usage_rollup`. */
export const MANIFEST = 0;
const RECORD = 1;
const TRACE_SUM = 2;
/** A record that is the only one of its trace sum. */
const BOTH = 3;

export const IS_MANIFEST = trusted(`kind = ${MANIFEST}`);
export const IS_RECORD = trusted(`kind IN (${RECORD}, ${BOTH})`);
export const IS_TRACE_SUM = trusted(`kind IN (${TRACE_SUM}, ${BOTH})`);

export interface RecordRow {
  readonly kind: number;
  readonly record: UsageRecord;
}

const SUMMED = [
  "records",
  "calls",
  "errors",
  "unfinished",
  ...countFields.map(({ wire }) => wire),
  "uncached_prompt_tokens",
  "billed_requests",
  "stated_ticks",
  "stated_usages",
] as const;

/**
 * Builds the rows of records and of trace sums. A trace sum adds up what has the same trace, price key, input tier, waste and
 * 15 minutes, so that it has the price of each of its records. That with the root has the fields, start and latency of it.
 */
export function recordRows(records: readonly UsageRecord[]): readonly RecordRow[] {
  const groups = Map.groupBy(records, (record) => {
    const { trace_id, price_key, input_tier, is_wasted, started_at_us } = record;
    const quarter = Math.floor(started_at_us / FIFTEEN_MINUTES_US);
    return `${quarter} ${input_tier} ${is_wasted} ${price_key.length} ${price_key}${trace_id}`;
  });
  return [...groups.values()].flatMap((group) => {
    const sum = group.length === 1 ? undefined : sumOf(group);
    if (sum === undefined) return group.map((record) => ({ kind: BOTH, record }));
    return [...group.map((record) => ({ kind: RECORD, record })), { kind: TRACE_SUM, record: sum }];
  });
}

/** `undefined`: a sum exceeds 2^53 - 1. */
function sumOf(group: readonly UsageRecord[]): UsageRecord | undefined {
  const add = (quantity: (record: UsageRecord) => number): number =>
    group.reduce((total, record) => total + quantity(record), 0);
  const { trace_id, price_key, input_tier, is_wasted, units } = group[0]!;
  const sums = Object.fromEntries(SUMMED.map((name) => [name, add((record) => record[name])]));
  const unitSums = units.map((_, unit) => add((record) => record.units[unit]!));
  if (![...Object.values(sums), ...unitSums].every(Number.isSafeInteger)) return undefined;
  const first = group.filter(({ is_first }) => is_first === 1);
  return {
    ...EMPTY_RECORD,
    ...first[0],
    started_at_us:
      first[0]?.started_at_us ?? group.reduce((min, one) => Math.min(min, one.started_at_us), Infinity),
    latency_ms: first.reduce((latency, { latency_ms }) => Math.max(latency, latency_ms), NO_LATENCY),
    ...sums,
    trace_id,
    price_key,
    input_tier,
    is_wasted,
    units: unitSums,
    input_tokens: 0,
  };
}
