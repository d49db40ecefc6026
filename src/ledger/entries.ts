import { chargedOf, usedKindsOf, type Charged } from "../prices/cost-of-cell.ts";
import { inputOfRequest } from "../prices/cost-of-call.ts";
import { parseJsonText } from "../shared/escaped-keys.ts";
import { countFields, countMembers, countRow, countsAt, type CountWire } from "../usage/count-fields.ts";
import { unitsOf, type UnitCounts } from "../usage/units.ts";
import type { PricedUsage, Usage } from "../usage/usage.ts";

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
  /** 0: it used nothing. */
  readonly usages: number;
  readonly llm: string;
  readonly provider: string;
  readonly tier: string;
  /** What is charged, see `Charged`; of no use where there is a `detail`. */
  readonly uncached: number;
  readonly charged_requests: number;
  readonly shape: number;
  /** The smallest and the largest input of a request. */
  readonly input_min: number;
  readonly input_max: number;
  /** The usage as a whole, where it has units. */
  readonly detail: string;
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

/** The columns of `usage_hours` that have a value for each entry. */
export const ENTRY_COLUMNS: readonly (keyof Entry)[] = [
  "at",
  "calls",
  "errors",
  "latency",
  ...CALL_FIELDS,
  "is_root",
  "usages",
  "llm",
  "provider",
  "tier",
  ...countFields.map(({ wire }) => wire),
  "uncached",
  "charged_requests",
  "shape",
  "input_min",
  "input_max",
  "detail",
];

export const NO_USAGE: UsageOfEntry = {
  usages: 0,
  llm: "",
  provider: "",
  tier: "",
  requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  uncached: 0,
  charged_requests: 0,
  shape: 0,
  input_min: 0,
  input_max: 0,
  detail: "",
};

/** Undefined if a count is too large to be stored exactly. */
export function usageOfEntry(usage: Usage): UsageOfEntry | undefined {
  const charged = chargedOf(usage);
  const counts = countMembers(usage);
  if (!areExact(counts, charged)) return undefined;
  const input = inputOfRequest(usage);
  return {
    ...counts,
    usages: 1,
    llm: usage.llm,
    provider: usage.service?.provider ?? "",
    tier: usage.service?.tier ?? "",
    uncached: charged.uncached,
    charged_requests: charged.requests,
    shape: usedKindsOf(charged),
    input_min: input,
    input_max: input,
    detail: usage.units === undefined ? "" : detailOf(usage, usage.units),
  };
}

function areExact(counts: Counts, { uncached }: Charged): boolean {
  let largest = Math.max(uncached, counts.requests, counts.prompt_tokens, counts.completion_tokens);
  largest = Math.max(largest, counts.total_tokens, counts.cache_read_input_tokens);
  return Math.max(largest, counts.cache_creation_input_tokens) <= Number.MAX_SAFE_INTEGER;
}

/** A usage with units, which is charged as a whole. */
interface Detail {
  readonly counts: readonly number[];
  readonly outside: boolean;
  readonly units: UnitCounts;
}

function detailOf(usage: Usage, counted: UnitCounts): string {
  const units = unitsOf((unit) => counted[unit] ?? 0) ?? {};
  const detail: Detail = { counts: countRow(usage), outside: usage.cacheOutsidePrompt, units };
  return JSON.stringify(detail);
}

export function readDetail(text: string): Omit<PricedUsage, "service"> & { readonly units: UnitCounts } {
  const { counts, outside, units } = parseJsonText(text) as Detail;
  return { ...countsAt(counts, 0), cacheOutsidePrompt: outside, units };
}
