import type { Fingerprints } from "./fingerprints.ts";
import { spanKey, singleHour, type HourSpan } from "./hour-span.ts";
import type { RollupManifest } from "./manifests.ts";
import type { MultiHourTraceSet } from "./multi-hour-traces.ts";

/** What was read of some hours. */
export interface RollupSnapshot {
  /** Those that calls lie under. */
  readonly hours: readonly number[];
  readonly fingerprints: Fingerprints;
  readonly multiHour: readonly MultiHourTraceSet[];
  readonly manifests: readonly RollupManifest[];
}

/** What the ledger has of some hours, and what must be folded. No trace is in both, or in neither. */
export interface RollupCoverage {
  readonly manifests: readonly RollupManifest[];
  /** Groups of several hours that are settled under all of the hours looked at. */
  readonly groups: readonly HourSpan[];
  /** Hours that are not settled. */
  readonly unmaterializedHours: readonly number[];
  /** Settled hours with traces of groups that are not. */
  readonly unmaterializedSpanHours: readonly number[];
}

/** The traceSetHash of an hour without any spanning traces. */
export const EMPTY_TRACE_SET = "0";

/**
 * A group is settled under an hour if all its parts have heads that are true of the rows and the traces as they are now. It
 * counts as settled only if it is under all its hours that were looked at, and these are settled too.
 */
export function findCoverage({ hours, fingerprints, multiHour, manifests }: RollupSnapshot): RollupCoverage {
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
  const groups: HourSpan[] = [];
  const unmaterializedSpanHours = new Set<number>();
  const looked = new Set(hours);
  const ofWindow = multiHour.filter(({ hour }) => looked.has(hour));
  for (const underHours of Map.groupBy(ofWindow, spanKey).values()) {
    const ofGroup = underHours.map((one) =>
      materializedHours.has(one.hour) ? current.get(validityKey(one)) : undefined,
    );
    if (ofGroup.every((some) => some !== undefined)) {
      found.push(...ofGroup.flat());
      groups.push(underHours[0]!);
    } else
      for (const { hour } of underHours) if (materializedHours.has(hour)) unmaterializedSpanHours.add(hour);
  }
  return {
    manifests: found,
    groups,
    unmaterializedHours: hours.filter((hour) => !materializedHours.has(hour)),
    unmaterializedSpanHours: [...unmaterializedSpanHours],
  };
}

/** Whether the same is settled, so that the same must be folded. */
export function isSameCoverage(one: RollupCoverage, other: RollupCoverage): boolean {
  return (
    one.manifests.length === other.manifests.length &&
    one.manifests.every(({ batch, hour }, place) => {
      const manifest = other.manifests[place]!;
      return manifest.batch === batch && manifest.hour === hour;
    })
  );
}

/** Of each hour the traceSetHash of all its spanning traces. */
export function traceSetHashes(multiHour: readonly MultiHourTraceSet[]): ReadonlyMap<number, string> {
  const sums = new Map<number, bigint>();
  for (const { hour, traceSetHash } of multiHour)
    sums.set(hour, (sums.get(hour) ?? 0n) + BigInt(traceSetHash));
  return new Map([...sums].map(([hour, sum]) => [hour, String(BigInt.asUintN(64, sum))]));
}

/** The heads that are true of the rows as they are now, where all parts are there, by group, hour and traces. */
export function validManifests(
  manifests: readonly RollupManifest[],
  fingerprints: Fingerprints,
): ReadonlyMap<string, readonly RollupManifest[]> {
  const current = manifests.filter((manifest) => fingerprints.of(manifest) === manifest.fingerprint);
  const divided = Map.groupBy(current, (manifest) => `${validityKey(manifest)} ${manifest.slices}`);
  return new Map(
    [...divided.values()]
      .filter((slices) => slices.length === slices[0]!.slices)
      .map((slices) => [validityKey(slices[0]!), slices]),
  );
}

/** Traces under an hour as one text. */
export function validityKey(of: MultiHourTraceSet): string {
  return `${of.hour} ${spanKey(of)} ${of.traceSetHash}`;
}
