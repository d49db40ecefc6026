import { randomBytes } from "node:crypto";
import { trusted } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { countFields } from "../usage/count-fields.ts";
import type { HourSpan } from "./hours.ts";
import { servedModelsOf } from "./served-models.ts";
import { EMPTY_RECORD, FIFTEEN_MINUTES_US, NO_LATENCY, type UsageRecord } from "./usage-record.ts";

/** Record format version; increment when record semantics change. Readers ignore other versions. */
export const RECORD_VERSION = 6;

/** Kinds of rows of `usage_rollup`. */
const MANIFEST = 0;
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

/** A row of `usage_rollup`. */
export type RollupRow = Readonly<Record<string, unknown>>;

/** Usage records of one slice under an hour, with the validity fields of `RollupManifest`. */
export interface MaterializedSlice extends HourSpan {
  readonly hour: number;
  readonly slice: number;
  readonly slices: number;
  readonly fingerprint: string;
  /** Fingerprint of `hour` alone. */
  readonly hourFingerprint: string;
  readonly traceSetHash: string;
  readonly records: readonly UsageRecord[];
}

/** Encodes a slice as a manifest row, and rows of records and trace sums with the same columns. */
export function rowsOf(project: Project, materialized: MaterializedSlice): readonly RollupRow[] {
  const { hour, first, last, slice, records } = materialized;
  const key = {
    project_id: project,
    hour,
    first_hour: first,
    last_hour: last,
    slice,
    batch_id: String(randomBytes(8).readBigUInt64LE()),
  };
  const startedUs = records[0]?.started_at_us ?? 0;
  const manifest = {
    version: RECORD_VERSION,
    slices: materialized.slices,
    records: records.length,
    fingerprint: materialized.fingerprint,
    hour_fingerprint: materialized.hourFingerprint,
    trace_set_hash: materialized.traceSetHash,
    first_started_at_us: records.reduce((first, one) => Math.min(first, one.started_at_us), startedUs),
    last_started_at_us: records.reduce((last, one) => Math.max(last, one.started_at_us), startedUs),
    llms: servedModelsOf(records),
  };
  return [
    { ...key, kind: MANIFEST, record_no: 0, manifest, ...EMPTY_RECORD },
    ...recordRows(records).map(({ kind, record }, number) => ({
      ...key,
      kind,
      record_no: number + 1,
      manifest: null,
      ...record,
    })),
  ];
}
