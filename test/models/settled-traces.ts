import type { Look, Settled } from "../../src/ledger/find-settled.ts";
import { Fingerprints } from "../../src/ledger/fingerprints.ts";
import { groupKey, MAX_HOURS, ofHour, type Group } from "../../src/ledger/group.ts";
import type { Head } from "../../src/ledger/heads.ts";
import type { SpanningUnderHour } from "../../src/ledger/spanning.ts";

/** Of each hour under which a trace lies, how often it was written there. */
type Versions = ReadonlyMap<number, number>;

/** A head, and the traces it has, as they were when they were settled. */
interface Kept {
  readonly head: Head;
  readonly traces: ReadonlyMap<number, string>;
}

/** Traces, what is noted of them, and what a ledger has of them: the least that tells whether a question counts each of them once. */
export class SettledTraces {
  readonly #traces = new Map<number, Map<number, number>>();
  /** The hours under which traces are noted: before they are written there. */
  readonly #noted = new Map<number, Set<number>>();
  readonly #kept = new Map<string, Kept>();
  #settlements = 0;

  note(trace: number, hour: number): void {
    const hours = this.#noted.get(trace) ?? new Set();
    this.#noted.set(trace, hours.add(hour));
  }

  write(trace: number, hour: number): void {
    this.note(trace, hour);
    const versions = this.#traces.get(trace) ?? new Map<number, number>();
    this.#traces.set(trace, versions.set(hour, (versions.get(hour) ?? 0) + 1));
  }

  /** What would be settled of a group now: its heads, in so many parts. */
  fold(group: Group, parts: number): readonly Kept[] {
    const fingerprint = this.#fingerprints().of(group);
    const isOwn = group.first === group.last;
    const under = isOwn
      ? [{ hour: group.first, digest: this.#excludedUnder(group.first) }]
      : this.spanning().filter((one) => groupKey(one) === groupKey(group));
    return under.flatMap(({ hour, digest }) =>
      Array.from({ length: parts }, (_, part): Kept => {
        const members = [...this.#traces].filter(
          ([trace, versions]) =>
            versions.has(hour) &&
            trace % parts === part &&
            groupKey(this.#groupOf(trace)) === groupKey(group),
        );
        const head: Head = {
          ...group,
          hour,
          part,
          parts,
          digest,
          fingerprint,
          settlement: String(this.#settlements++),
          entries: members.length,
          first_at: 0,
          last_at: 0,
          served: [],
        };
        return { head, traces: new Map(members.map(([trace, versions]) => [trace, textOf(versions)])) };
      }),
    );
  }

  /** Later heads replace earlier ones. */
  keep({ head, traces }: Kept): void {
    this.#kept.set(`${head.hour} ${groupKey(head)} ${head.part}`, { head, traces });
  }

  look(hours: readonly number[]): Look {
    const looked = new Set(hours);
    const fingerprints = this.#fingerprints();
    return {
      hours: hours.filter((hour) => fingerprints.hours.includes(hour)),
      fingerprints,
      spanning: this.spanning().filter(({ hour }) => looked.has(hour)),
      heads: [...this.#kept.values()].map(({ head }) => head).filter(({ hour }) => looked.has(hour)),
    };
  }

  /** How often each trace that lies under some hours would be counted, with its state if it is not of now. */
  counts(
    hours: readonly number[],
    { heads, groups, liveHours, hoursOfLiveGroups }: Settled,
  ): ReadonlyMap<number, string> {
    const settledGroups = new Set(groups.map(groupKey));
    const kept = new Map([...this.#kept.values()].map((one) => [one.head.settlement, one]));
    const found = new Map<number, string>();
    for (const [trace, versions] of this.#traces) {
      const looked = hours.filter((hour) => versions.has(hour));
      if (looked.length === 0) continue;
      const noted = [...this.#noted.get(trace)!];
      const isSpanning = noted.length > 1;
      const isLive =
        looked.some((hour) => liveHours.includes(hour)) ||
        (isSpanning &&
          !settledGroups.has(groupKey(this.#groupOf(trace))) &&
          noted.some((hour) => liveHours.includes(hour) || hoursOfLiveGroups.includes(hour)));
      const ofHeads = looked.map((hour) =>
        heads.flatMap((head) => {
          const state = head.hour === hour ? kept.get(head.settlement)?.traces.get(trace) : undefined;
          return state === undefined ? [] : [state === textOf(versions) ? "now" : "stale"];
        }),
      );
      found.set(trace, [isLive ? "live" : "", ...ofHeads.map((states) => states.join("+"))].join(" ").trim());
    }
    return found;
  }

  spanning(): readonly SpanningUnderHour[] {
    const rows = new Map<string, SpanningUnderHour>();
    for (const [trace, hours] of this.#noted) {
      if (hours.size === 1) continue;
      const group = this.#groupOf(trace);
      for (const hour of hours) {
        const key = `${hour} ${groupKey(group)}`;
        const digest = BigInt(rows.get(key)?.digest ?? 0) + hashOf(`trace ${trace}`);
        rows.set(key, { ...group, hour, digest: String(BigInt.asUintN(64, digest)) });
      }
    }
    return [...rows.values()];
  }

  #groupOf(trace: number): Group {
    const hours = [...this.#noted.get(trace)!];
    const [first, last] = [Math.min(...hours), Math.max(...hours)];
    if (hours.length === 1) return ofHour(first);
    const group = { first, last };
    return last - first < MAX_HOURS ? group : { first: 0, last: -1 };
  }

  #excludedUnder(hour: number): string {
    const all = this.spanning().filter((one) => one.hour === hour);
    return String(
      BigInt.asUintN(
        64,
        all.reduce((sum, { digest }) => sum + BigInt(digest), 0n),
      ),
    );
  }

  #fingerprints(): Fingerprints {
    const sums = new Map<number, bigint>();
    for (const [trace, versions] of this.#traces)
      for (const [hour, version] of versions)
        for (let one = 1; one <= version; one++)
          sums.set(hour, BigInt.asUintN(64, (sums.get(hour) ?? 0n) + hashOf(`${trace} ${hour} ${one}`)));
    return new Fingerprints(sums);
  }
}

function textOf(versions: Versions): string {
  return [...versions]
    .toSorted(([a], [b]) => a - b)
    .map(([hour, version]) => `${hour}:${version}`)
    .join();
}

/** FNV-1a. */
function hashOf(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const character of text)
    hash = BigInt.asUintN(64, (hash ^ BigInt(character.codePointAt(0)!)) * 0x100000001b3n);
  return hash;
}
