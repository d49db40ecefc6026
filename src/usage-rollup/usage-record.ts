import { inputOfRequest, requestsOf, uncachedTokens } from "../prices/cost-of-call.ts";
import { countMembers, type CountWire } from "../usage/count-fields.ts";
import type { Usage } from "../usage/usage.ts";
import { inputTierOf } from "./input-tier.ts";
import { priceKeyOf } from "./price-key.ts";

/** Fields of a call that an entry tells. */
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

/** The latency of a call that has not ended, or counts in another entry. */
export const NO_LATENCY = Number.MIN_SAFE_INTEGER;

/** What a call itself used of one LLM. */
export interface RecordUsage extends Counts {
  /** See `priceKeyFor`; '': nothing was used. */
  readonly price_key: string;
  readonly uncached_prompt_tokens: number;
  readonly billed_requests: number;
  /** Of the units that `priced_as` names. */
  readonly units: readonly number[];
  readonly input_tokens: number;
  readonly input_tier: number;
}
type Counts = { readonly [Wire in CountWire]: number };

/** A call where it counts: in one of its entries. */
export interface RecordCall extends Readonly<Record<CallField, string>> {
  readonly calls: number;
  readonly errors: number;
  readonly latency_ms: number;
  readonly is_root: number;
}

/** A call and an LLM that it used, or a call that used none. */
export interface UsageRecord extends RecordCall, RecordUsage {
  /** Microseconds since the epoch. */
  readonly started_at_us: number;
}

export const NO_USAGE: RecordUsage = {
  price_key: "",
  requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  uncached_prompt_tokens: 0,
  billed_requests: 0,
  units: [],
  input_tokens: 0,
  input_tier: 0,
};

/** In the place of an entry where there is none: its members in the same order. */
export const EMPTY_RECORD: UsageRecord = {
  started_at_us: 0,
  op_name: "",
  trace_id: "",
  thread_id: "",
  turn_id: "",
  svc_user_id: "",
  svc_run_id: "",
  api_key: "",
  status: "",
  is_root: 0,
  calls: 0,
  errors: 0,
  latency_ms: 0,
  ...NO_USAGE,
};

/** The columns of `usage_rollup` that records have. */
export const RECORD_COLUMNS = Object.keys(EMPTY_RECORD) as readonly (keyof UsageRecord)[];

/** Undefined if a count is too large to be stored exactly. */
export function recordUsageOf(usage: Usage): RecordUsage | undefined {
  const counts = countMembers(usage);
  const uncached_prompt_tokens = uncachedTokens(usage);
  const { text, units } = priceKeyOf(usage);
  const all = [uncached_prompt_tokens, ...units, ...Object.values(counts)];
  if (Math.max(...all) > Number.MAX_SAFE_INTEGER) return undefined;
  const input_tokens = inputOfRequest(usage);
  return {
    price_key: text,
    ...counts,
    uncached_prompt_tokens,
    billed_requests: requestsOf(usage),
    units,
    input_tokens,
    input_tier: inputTierOf(input_tokens),
  };
}
