import { param, sql, type Sql } from "../query/sql.ts";
import { validManifests, traceSetHashes, EMPTY_TRACE_SET, validityKey } from "./coverage.ts";
import { readFingerprints } from "./fingerprints.ts";
import { foldSpans, type SpanToFold, type FoldRequest } from "./fold-span.ts";
import { spanKey, hoursIn, singleHour, type HourSpan, hourIn, type Reading } from "./hours.ts";
import { readManifests } from "./manifests.ts";
import type { MaterializedSlice } from "./rows.ts";
import { isTooLong, readMultiHourTraces, type MultiHourTraces } from "./multi-hour-traces.ts";

export interface MaterializeRequest {
  readonly hours: readonly HourWithRows[];
  /** Skips spans that end at this hour or later. */
  readonly beforeHour: number;
  /** Folds valid spans too. */
  readonly force?: boolean;
  /** Target of rows of `calls` per fold. Default: 50,000. */
  readonly rowsPerFold?: number;
}

export interface HourWithRows {
  readonly hour: number;
  /** Rows of `calls`. */
  readonly rows: number;
}

/** Consumer of folded slices: writes or verifies them. */
export interface RollupSink {
  add(materialized: readonly MaterializedSlice[]): Promise<void>;
  flush(): Promise<void>;
}

interface FoldContext extends Reading {
  readonly batches: RollupSink;
  readonly rowsPerFold: number;
}

/** Slices with more rows of `calls` are never materialized. */
const MAX_ROWS_PER_FOLD = 400_000;
const TRACES_PER_FOLD = 2000;

/**
 * Folds hours into the sink: multi-hour spans first, so that the spans of a materialized hour are materialized too, even
 * if the process is killed. Manifests name the fingerprint and trace-set hash they were computed from, so readers ignore
 * stale writes. Returns the hours that cannot be materialized unless they change.
 */
export async function materializeHours(
  reading: Reading,
  requested: MaterializeRequest,
  batches: RollupSink,
): Promise<readonly number[]> {
  const { hours, rowsPerFold = 50_000 } = requested;
  const inHours = hourIn(hours.map(({ hour }) => hour));
  const multiHour = await readMultiHourTraces(reading, inHours, "usage_rollup_multi_hour_traces");
  const context = { ...reading, batches, rowsPerFold };
  const changed = new Set<number>();
  for (const spans of inFolds(await spansToMaterialize(reading, requested, multiHour)))
    for (const hour of await materializeSpans(context, spans)) changed.add(hour);
  const hashes = traceSetHashes(multiHour);
  const multiHourUnder = Map.groupBy(multiHour, ({ hour }) => hour);
  const notMaterializable: number[] = [];
  for (const { hour, rows } of hours) {
    if (changed.has(hour)) continue;
    const excluded = multiHourUnder.get(hour)?.flatMap(({ traceIds }) => traceIds) ?? [];
    const under = [{ hour, traceSetHash: hashes.get(hour) ?? EMPTY_TRACE_SET }];
    const own: FoldRequest = {
      spans: [{ ...singleHour(hour), under, traceIds: [] }],
      members: sql`trace_id NOT IN ${param("Array(String)", excluded)}`,
    };
    if ((await materializeInSlices(context, own, rows)) === "rejected") notMaterializable.push(hour);
  }
  await batches.flush();
  return notMaterializable;
}

/** Folds spans, halving until they fit. Returns the hours of spans that changed during the fold. */
async function materializeSpans(
  context: FoldContext,
  spans: readonly SpanToFold[],
): Promise<readonly number[]> {
  const traceIds = spans.flatMap((span) => span.traceIds);
  const request: FoldRequest = { spans, members: sql`trace_id IN ${param("Array(String)", traceIds)}` };
  const folded = await foldSpans(context, request, { slice: 0, slices: 1, maxRows: context.rowsPerFold });
  const hours = spans.flatMap(({ under }) => under.map(({ hour }) => hour));
  if (folded.failed === undefined) {
    await context.batches.add(folded.materialized);
    return [];
  }
  if (folded.failed === "changed") return hours;
  if (spans.length === 1)
    return (await materializeInSlices(context, request, folded.rows)) === "changed" ? hours : [];
  const half = Math.ceil(spans.length / 2);
  return [
    ...(await materializeSpans(context, spans.slice(0, half))),
    ...(await materializeSpans(context, spans.slice(half))),
  ];
}

/** Folds traces slice by slice. `rows`: their approximate number of rows. */
async function materializeInSlices(
  context: FoldContext,
  toFold: FoldRequest,
  rows: number,
): Promise<"materialized" | "changed" | "rejected"> {
  const slices = Math.max(1, Math.ceil(rows / context.rowsPerFold));
  for (let slice = 0; slice < slices; slice++) {
    const folded = await foldSpans(context, toFold, { slice, slices, maxRows: MAX_ROWS_PER_FOLD });
    if (folded.failed !== undefined) return folded.failed === "changed" ? "changed" : "rejected";
    await context.batches.add(folded.materialized);
  }
  return "materialized";
}

/** Selects the multi-hour spans of the requested hours that end before `beforeHour` and lack valid manifests. */
async function spansToMaterialize(
  reading: Reading,
  { beforeHour, force }: MaterializeRequest,
  multiHour: readonly MultiHourTraces[],
): Promise<readonly SpanToFold[]> {
  const isRequested = (span: HourSpan): boolean => !isTooLong(span) && span.last < beforeHour;
  const requested = new Map(multiHour.filter(isRequested).map((span) => [spanKey(span), span]));
  if (requested.size === 0) return [];
  // all traces of a span are stored under its first hour, so none is missed under the others
  const firsts = hourIn([...new Set([...requested.values()].map(({ first }) => first))]);
  const found = await readMultiHourTraces(reading, firsts, "usage_rollup_spans");
  const spans = Map.groupBy(
    found.filter((span) => requested.has(spanKey(span))),
    spanKey,
  );
  const hours = hourIn([...new Set([...requested.values()].flatMap(hoursIn))]);
  const current = force === true ? new Map() : await readCurrent(reading, hours);
  return [...spans.values()]
    .filter((under) => !under.every((set) => current.has(validityKey(set))))
    .map((under) => {
      const traceIds = [...new Set(under.flatMap((set) => set.traceIds))];
      return { first: under[0]!.first, last: under[0]!.last, under, traceIds };
    });
}

/** Reads the valid manifests of some hours, by `validityKey`. */
async function readCurrent(reading: Reading, hours: Sql): Promise<ReadonlyMap<string, unknown>> {
  const [manifests, fingerprints] = await Promise.all([
    readManifests(reading, hours),
    readFingerprints(reading, hours),
  ]);
  return validManifests(manifests, fingerprints);
}

/** Batches spans up to `TRACES_PER_FOLD` traces. */
function inFolds(spans: readonly SpanToFold[]): readonly (readonly SpanToFold[])[] {
  const folds: SpanToFold[][] = [];
  let budget = 0;
  for (const span of spans) {
    if (budget < span.traceIds.length || folds.length === 0) {
      folds.push([]);
      budget = TRACES_PER_FOLD;
    }
    folds.at(-1)!.push(span);
    budget -= span.traceIds.length;
  }
  return folds;
}
