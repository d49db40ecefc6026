import { computedColumns } from "../query/fields/columns.ts";
import { sql, trusted } from "../query/sql.ts";
import { inputOfRequest, requestsOf, uncachedTokens } from "../prices/cost-of-call.ts";
import { countFields, countMembers, type CountWire } from "../usage/count-fields.ts";
import { statedCostOf } from "../usage/stated-cost.ts";
import type { Usage } from "../usage/usage.ts";
import { inputTierOf } from "./input-tier.ts";
import { priceKeyOf } from "./price-key.ts";

/** Call fields stored in a usage record. */
export const CALL_FIELDS = [
  "op_name",
  "trace_id",
  "thread_id",
  "turn_id",
  "svc_user_id",
  "svc_run_id",
  "api_key",
  "status",
] as const;
export type CallField = (typeof CALL_FIELDS)[number];

/** Latency of a call that has not ended or is counted in another record. */
export const NO_LATENCY = Number.MIN_SAFE_INTEGER;
/** SQL over the columns of `calls`: latency in ms, or `NO_LATENCY`; whether the call failed. */
export const LATENCY = sql`ifNull(${computedColumns.get("latency_ms")!.sql}, ${trusted(String(NO_LATENCY))})`;
export const HAS_FAILED = sql`(ifNull(exception, '') != '')`;

export const FIFTEEN_MINUTES_US = 900_000_000;

/** Own usage of a call for one LLM: none. */
export const NO_USAGE = {
  /** Encoded `PriceKey`; '' without usage. */
  price_key: "",
  ...(Object.fromEntries(countFields.map(({ wire }) => [wire, 0])) as Record<CountWire, number>),
  uncached_prompt_tokens: 0,
  billed_requests: 0,
  /** The stated cost in 10^-10 USD, and how many usages state one. */
  stated_ticks: 0,
  stated_usages: 0,
  /** Quantity per unit of the price key, in its order. */
  units: [] as readonly number[],
  input_tokens: 0,
  input_tier: 0,
};
export type RecordUsage = Readonly<typeof NO_USAGE>;

/** Call fields and counts; only one record of a call has nonzero counts. */
const NO_CALL = {
  ...(Object.fromEntries(CALL_FIELDS.map((field) => [field, ""])) as Record<CallField, string>),
  is_root: 0,
  /** 1 for the root of its trace; without a call that has no parent, for the earliest call. */
  is_first: 0,
  /** 1 for a failed call, and for calls below one. */
  is_wasted: 0,
  /** 1; in a sum of records, their number. */
  records: 0,
  calls: 0,
  errors: 0,
  unfinished: 0,
  latency_ms: 0,
};

/** Record columns of a manifest row, in the order of `RECORD_COLUMNS`. `started_at_us`: microseconds since the epoch. */
export const EMPTY_RECORD = { started_at_us: 0, ...NO_CALL, ...NO_USAGE };
/** Own usage of one call for one LLM; a call without usage has one record. */
export type UsageRecord = Readonly<typeof EMPTY_RECORD>;

/** Columns of `usage_rollup` in records. */
export const RECORD_COLUMNS = Object.keys(EMPTY_RECORD) as readonly (keyof UsageRecord)[];

/** Converts a usage. `undefined` if a count exceeds 2^53 - 1. */
export function recordUsageOf(usage: Usage): RecordUsage | undefined {
  const counts = countMembers(usage);
  const uncached_prompt_tokens = uncachedTokens(usage);
  const { text, units } = priceKeyOf(usage);
  const stated = statedCostOf(usage.units) ?? { ticks: 0, usages: 0 };
  const all = [uncached_prompt_tokens, stated.ticks, ...units, ...Object.values(counts)];
  if (Math.max(...all) > Number.MAX_SAFE_INTEGER) return undefined;
  const input_tokens = inputOfRequest(usage);
  return {
    price_key: text,
    ...counts,
    uncached_prompt_tokens,
    billed_requests: requestsOf(usage),
    stated_ticks: stated.ticks,
    stated_usages: stated.usages,
    units,
    input_tokens,
    input_tier: inputTierOf(input_tokens),
  };
}
