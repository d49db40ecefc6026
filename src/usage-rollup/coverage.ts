import type { Fingerprints } from "./fingerprints.ts";
import { hoursIn, spanKey, singleHour, type HourSpan } from "./hours.ts";
import type { RollupManifest } from "./manifests.ts";
import type { MultiHourTraceSet } from "./multi-hour-traces.ts";

/** Input of `findCoverage`, read for a range of hours. */
export interface RollupSnapshot {
  /** Hour buckets that contain calls. */
  readonly hours: readonly number[];
  readonly fingerprints: Fingerprints;
  readonly multiHour: readonly MultiHourTraceSet[];
  readonly manifests: readonly RollupManifest[];
  /** Hour buckets of the requested calls; others were read for the rest of their traces. */
  readonly requested: ReadonlySet<number>;
}

/** Division of traces into materialized and not materialized ones; every trace is in exactly one class. */
export interface RollupCoverage {
  readonly manifests: readonly RollupManifest[];
  /** Multi-hour spans materialized under every hour of the snapshot. */
  readonly spans: readonly HourSpan[];
  /** Hours to aggregate at query time. */
  readonly unmaterializedHours: readonly number[];
  /** Materialized hours that contain traces of spans which are not. */
  readonly unmaterializedSpanHours: readonly number[];
}

/** Trace-set hash of an hour without multi-hour traces. */
export const EMPTY_TRACE_SET = "0";

/**
 * Finds which hours and multi-hour spans the rollup covers. A span is materialized under an hour if the manifests of all its
 * slices are valid; it counts as covered only if that holds for all its hours in the snapshot, and these are covered too.
 */
export function findCoverage(snapshot: RollupSnapshot): RollupCoverage {
  const { hours, fingerprints, multiHour, manifests, requested } = snapshot;
  const isRequested = (hour: number): boolean => requested.has(hour);
  const current = validManifests(manifests, fingerprints);
  const hashes = traceSetHashes(multiHour);
  const found: RollupManifest[] = [];
  const materializedHours = new Set<number>();
  for (const hour of hours) {
    const own = current.get(
      validityKey({ ...singleHour(hour), hour, traceSetHash: hashes.get(hour) ?? EMPTY_TRACE_SET }),
    );
    if (own === undefined) continue;
    materializedHours.add(hour);
    found.push(...own);
  }
  const spans: HourSpan[] = [];
  const unmaterializedSpanHours = new Set<number>();
  const inSnapshot = new Set(hours);
  const setsInSnapshot = multiHour.filter(({ hour }) => inSnapshot.has(hour));
  for (const sets of Map.groupBy(setsInSnapshot, spanKey).values()) {
    const slices = sets.map((set) =>
      materializedHours.has(set.hour) ? current.get(validityKey(set)) : undefined,
    );
    if (slices.every((some) => some !== undefined)) {
      found.push(...slices.flat());
      spans.push(sets[0]!);
    } else for (const { hour } of sets) if (materializedHours.has(hour)) unmaterializedSpanHours.add(hour);
  }
  return {
    manifests: found.filter((manifest) => hoursIn(manifest).some(isRequested)),
    spans,
    unmaterializedHours: hours.filter((hour) => !materializedHours.has(hour) && isRequested(hour)),
    unmaterializedSpanHours: [...unmaterializedSpanHours].filter(isRequested),
  };
}

/** True if two coverages name the same manifests, so the same traces are left to query time. */
export function isSameCoverage(a: RollupCoverage, b: RollupCoverage): boolean {
  const keysOf = ({ manifests }: RollupCoverage) => manifests.map(({ batch, hour }) => `${batch} ${hour}`);
  return keysOf(a).join() === keysOf(b).join();
}

/** Computes the trace-set hash of each hour's multi-hour traces. */
export function traceSetHashes(multiHour: readonly MultiHourTraceSet[]): ReadonlyMap<number, string> {
  const sums = new Map<number, bigint>();
  for (const { hour, traceSetHash } of multiHour)
    sums.set(hour, (sums.get(hour) ?? 0n) + BigInt(traceSetHash));
  return new Map([...sums].map(([hour, sum]) => [hour, String(BigInt.asUintN(64, sum))]));
}

/** Selects manifests whose fingerprint matches the rows stored now and whose slices are complete, by `validityKey`. */
export function validManifests(
  manifests: readonly RollupManifest[],
  fingerprints: Fingerprints,
): ReadonlyMap<string, readonly RollupManifest[]> {
  const current = manifests.filter((manifest) => fingerprints.of(manifest) === manifest.fingerprint);
  const bySlicing = Map.groupBy(current, (manifest) => `${validityKey(manifest)} ${manifest.slices}`);
  return new Map(
    [...bySlicing.values()]
      .filter((slices) => slices.length === slices[0]!.slices)
      .map((slices) => [validityKey(slices[0]!), slices]),
  );
}

/** Key of an hour, span and trace-set hash. */
export function validityKey(set: MultiHourTraceSet): string {
  return `${set.hour} ${spanKey(set)} ${set.traceSetHash}`;
}
