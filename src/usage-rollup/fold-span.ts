import { param, sql, type Sql } from "../query/sql.ts";
import { Fingerprints } from "./fingerprints.ts";
import { foldRecords, type FoldedRecords } from "./fold-records.ts";
import type { UsageRecord } from "./usage-record.ts";
import { hoursIn, singleHour, type HourSpan, hourIn, type Reading } from "./hours.ts";
import type { MaterializedSlice } from "./rows.ts";

/** Traces to fold in one pass: those of multi-hour spans, or those of a single hour. */
export interface FoldRequest {
  readonly spans: readonly SpanToFold[];
  /** SQL condition that selects the calls of these traces within the hours of the spans. */
  readonly members: Sql;
}

export interface SpanToFold extends HourSpan {
  /** Hour buckets that contain calls of its traces, with `RollupManifest.traceSetHash`. */
  readonly under: readonly { readonly hour: number; readonly traceSetHash: string }[];
  /** Empty for a single hour. */
  readonly traceIds: readonly string[];
}

/** Slice number `slice` of `slices`, by hash of the trace id. */
export interface TraceSlice {
  readonly slice: number;
  readonly slices: number;
}

export type Folded =
  | { readonly failed?: undefined; readonly materialized: readonly MaterializedSlice[] }
  /** `changed`: rows changed during the read; `too many`: above `maxRows`; `inexact`: see `foldRecords`. */
  | { readonly failed: "changed" | "too many" | "inexact"; readonly rows: number };

/**
 * Computes the usage records of traces. One statement reads the fingerprints of the hours and, over the same rows, of the
 * traces; a second one reads the traces with their fingerprint. If the two agree, the records match the fingerprints of the
 * hours, whichever replicas were read and when.
 */
export async function foldSpans(
  reading: Reading,
  { spans, members }: FoldRequest,
  { slice, slices, maxRows }: TraceSlice & { readonly maxRows: number },
): Promise<Folded> {
  const hours = hourIn([...new Set(spans.flatMap(hoursIn))]);
  const ofSlice = slices === 1 ? members : sql`${members} AND ${isOfSlice({ slice, slices })}`;
  const states = await readStates(reading, hours, ofSlice);
  const rows = states.reduce((sum, state) => sum + state.rows, 0);
  if (rows > maxRows) return { rows, failed: "too many" };
  const calls = await foldRecords(reading, sql`${hours} AND ${ofSlice}`);
  if (calls === undefined) return { rows, failed: "inexact" };
  const expected = states.reduce((sum, state) => sum + BigInt(state.ofMembers), 0n);
  if (calls.fingerprint !== BigInt.asUintN(64, expected)) return { rows, failed: "changed" };
  const fingerprints = new Fingerprints(new Map(states.map(({ hour, whole }) => [hour, BigInt(whole)])));
  const records = bySpanAndHour(spans, calls);
  const materialized = spans.flatMap((span) =>
    span.under.map(({ hour, traceSetHash }) => ({
      first: span.first,
      last: span.last,
      hour,
      slice,
      slices,
      traceSetHash,
      fingerprint: fingerprints.of(span),
      hourFingerprint: fingerprints.of(singleHour(hour)),
      records: records.get(span)?.get(hour) ?? [],
    })),
  );
  return { materialized };
}

/** Hashes the trace id, so that every process assigns a trace to the same slice. */
function isOfSlice({ slice, slices }: TraceSlice): Sql {
  return sql`cityHash64(trace_id) % ${param("UInt32", slices)} = ${param("UInt32", slice)}`;
}

function bySpanAndHour(
  spans: readonly SpanToFold[],
  { records, hours }: FoldedRecords,
): ReadonlyMap<SpanToFold, ReadonlyMap<number, readonly UsageRecord[]>> {
  const spanOfTrace = new Map(spans.flatMap((span) => span.traceIds.map((id) => [id, span] as const)));
  const found = new Map(spans.map((span) => [span, new Map<number, UsageRecord[]>()]));
  for (const [index, record] of records.entries()) {
    const ofSpan = found.get(spanOfTrace.get(record.trace_id) ?? spans[0]!)!;
    const hour = hours[index]!;
    const known = ofSpan.get(hour);
    if (known === undefined) ofSpan.set(hour, [record]);
    else known.push(record);
  }
  return found;
}

interface State {
  readonly hour: number;
  readonly whole: string;
  readonly ofMembers: string;
  readonly rows: number;
}

function readStates(
  { engine, project, signal }: Reading,
  hours: Sql,
  members: Sql,
): Promise<readonly State[]> {
  return engine.rows<State>(
    sql`SELECT hour, toString(sum(fingerprint)) AS whole, toString(sumIf(fingerprint, isMember)) AS ofMembers,
          countIf(isMember) AS rows
        FROM (SELECT hour, fingerprint, ${members} AS isMember FROM calls
              PREWHERE project_id = ${param("String", project)} AND ${hours})
        GROUP BY hour`,
    { name: "usage_rollup_states", limits: "maintenance", signal },
  );
}
