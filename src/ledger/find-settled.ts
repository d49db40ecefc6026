import type { Fingerprints } from "./fingerprints.ts";
import { groupKey, ofHour, type Group } from "./group.ts";
import type { Head } from "./heads.ts";
import type { SpanningUnderHour } from "./spanning.ts";

/** What was read of some hours. */
export interface Look {
  /** Those that calls lie under. */
  readonly hours: readonly number[];
  readonly fingerprints: Fingerprints;
  readonly spanning: readonly SpanningUnderHour[];
  readonly heads: readonly Head[];
}

/** What the ledger has of some hours, and what must be folded. No trace is in both, or in neither. */
export interface Settled {
  readonly heads: readonly Head[];
  /** Groups of several hours that are settled under all of the hours looked at. */
  readonly groups: readonly Group[];
  /** Hours that are not settled. */
  readonly liveHours: readonly number[];
  /** Settled hours with traces of groups that are not. */
  readonly hoursOfLiveGroups: readonly number[];
}

/** The digest of an hour without any spanning traces. */
export const NO_SPANNING = "0";

/**
 * A group is settled under an hour if all its parts have heads that are true of the rows and the traces as they are now. It
 * counts as settled only if it is under all its hours that were looked at, and these are settled too.
 */
export function findSettled({ hours, fingerprints, spanning, heads }: Look): Settled {
  const current = currentHeads(heads, fingerprints);
  const digests = digestsOfHours(spanning);
  const found: Head[] = [];
  const settledHours = new Set<number>();
  for (const hour of hours) {
    const own = current.get(stateKey({ ...ofHour(hour), hour, digest: digests.get(hour) ?? NO_SPANNING }));
    if (own === undefined) continue;
    settledHours.add(hour);
    found.push(...own);
  }
  const groups: Group[] = [];
  const hoursOfLiveGroups = new Set<number>();
  const looked = new Set(hours);
  const ofWindow = spanning.filter(({ hour }) => looked.has(hour));
  for (const underHours of Map.groupBy(ofWindow, groupKey).values()) {
    const ofGroup = underHours.map((one) =>
      settledHours.has(one.hour) ? current.get(stateKey(one)) : undefined,
    );
    if (ofGroup.every((some) => some !== undefined)) {
      found.push(...ofGroup.flat());
      groups.push(underHours[0]!);
    } else for (const { hour } of underHours) if (settledHours.has(hour)) hoursOfLiveGroups.add(hour);
  }
  return {
    heads: found,
    groups,
    liveHours: hours.filter((hour) => !settledHours.has(hour)),
    hoursOfLiveGroups: [...hoursOfLiveGroups],
  };
}

/** Whether the same is settled, so that the same must be folded. */
export function areSame(one: Settled, other: Settled): boolean {
  return (
    one.heads.length === other.heads.length &&
    one.heads.every(({ settlement, hour }, place) => {
      const head = other.heads[place]!;
      return head.settlement === settlement && head.hour === hour;
    })
  );
}

/** Of each hour the digest of all its spanning traces. */
export function digestsOfHours(spanning: readonly SpanningUnderHour[]): ReadonlyMap<number, string> {
  const sums = new Map<number, bigint>();
  for (const { hour, digest } of spanning) sums.set(hour, (sums.get(hour) ?? 0n) + BigInt(digest));
  return new Map([...sums].map(([hour, sum]) => [hour, String(BigInt.asUintN(64, sum))]));
}

/** The heads that are true of the rows as they are now, where all parts are there, by group, hour and traces. */
export function currentHeads(
  heads: readonly Head[],
  fingerprints: Fingerprints,
): ReadonlyMap<string, readonly Head[]> {
  const current = heads.filter((head) => fingerprints.of(head) === head.fingerprint);
  const divided = Map.groupBy(current, (head) => `${stateKey(head)} ${head.parts}`);
  return new Map(
    [...divided.values()]
      .filter((parts) => parts.length === parts[0]!.parts)
      .map((parts) => [stateKey(parts[0]!), parts]),
  );
}

/** Traces under an hour as one text. */
export function stateKey(of: SpanningUnderHour): string {
  return `${of.hour} ${groupKey(of)} ${of.digest}`;
}
