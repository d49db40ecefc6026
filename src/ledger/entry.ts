import { inputOfRequest, requestsOf, uncachedTokens } from "../prices/cost-of-call.ts";
import { countMembers, type CountWire } from "../usage/count-fields.ts";
import type { Usage } from "../usage/usage.ts";
import { inputClassOf } from "./input-class.ts";
import { pricedAsOf } from "./priced-as.ts";

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
export interface UsageOfEntry extends Counts {
  /** See `pricedAsOf`; '': nothing was used. */
  readonly priced_as: string;
  readonly uncached: number;
  readonly charged_requests: number;
  /** Of the units that `priced_as` names. */
  readonly units: readonly number[];
  readonly input: number;
  readonly input_class: number;
}
type Counts = { readonly [Wire in CountWire]: number };

/** A call where it counts: in one of its entries. */
export interface CallOfEntry extends Readonly<Record<CallField, string>> {
  readonly calls: number;
  readonly errors: number;
  readonly latency: number;
  readonly is_root: number;
}

/** A call and an LLM that it used, or a call that used none. */
export interface Entry extends CallOfEntry, UsageOfEntry {
  /** Microseconds since the epoch. */
  readonly at: number;
}

export const NO_USAGE: UsageOfEntry = {
  priced_as: "",
  requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  uncached: 0,
  charged_requests: 0,
  units: [],
  input: 0,
  input_class: 0,
};

/** In the place of an entry where there is none: its members in the same order. */
export const NO_ENTRY: Entry = {
  at: 0,
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
  latency: 0,
  ...NO_USAGE,
};

/** The columns of `usage_ledger` that entries have. */
export const ENTRY_COLUMNS = Object.keys(NO_ENTRY) as readonly (keyof Entry)[];

/** Undefined if a count is too large to be stored exactly. */
export function usageOfEntry(usage: Usage): UsageOfEntry | undefined {
  const counts = countMembers(usage);
  const uncached = uncachedTokens(usage);
  const { text, units } = pricedAsOf(usage);
  const all = [uncached, ...units, ...Object.values(counts)];
  if (Math.max(...all) > Number.MAX_SAFE_INTEGER) return undefined;
  const input = inputOfRequest(usage);
  return {
    priced_as: text,
    ...counts,
    uncached,
    charged_requests: requestsOf(usage),
    units,
    input,
    input_class: inputClassOf(input),
  };
}
