import type { RollupSnapshot, RollupCoverage } from "../../src/usage-rollup/coverage.ts";
import { Fingerprints } from "../../src/usage-rollup/fingerprints.ts";
import { spanKey, MAX_SPAN_HOURS, singleHour, type HourSpan } from "../../src/usage-rollup/hour-span.ts";
import type { RollupManifest } from "../../src/usage-rollup/manifests.ts";
import type { MultiHourTraceSet } from "../../src/usage-rollup/multi-hour-traces.ts";

/** Of each hour under which a trace lies, how often it was written there. */
type Versions = ReadonlyMap<number, number>;

/** A manifest, and the traces it has, as they were when they were settled. */
interface Kept {
  readonly manifest: RollupManifest;
  readonly traces: ReadonlyMap<number, string>;
}

/** Traces, what is noted of them, and what a ledger has of them: the least that tells whether a question counts each of them once. */
export class MaterializedTraces {
  readonly #traces = new Map<number, Map<number, number>>();
  /** The hours under which traces are noted: before they are written there. */
  readonly #noted = new Map<number, Set<number>>();
  readonly #kept = new Map<string, Kept>();
  #batches = 0;

  note(trace: number, hour: number): void {
    const hours = this.#noted.get(trace) ?? new Set();
    this.#noted.set(trace, hours.add(hour));
  }

  write(trace: number, hour: number): void {
    this.note(trace, hour);
    const versions = this.#traces.get(trace) ?? new Map<number, number>();
    this.#traces.set(trace, versions.set(hour, (versions.get(hour) ?? 0) + 1));
  }

  /** What would be settled of a group now: its manifests, in so many parts. */
  fold(group: HourSpan, parts: number): readonly Kept[] {
    const fingerprint = this.#fingerprints().of(group);
    const isOwn = group.first === group.last;
    const under = isOwn
      ? [{ hour: group.first, traceSetHash: this.#excludedUnder(group.first) }]
      : this.multiHour().filter((one) => spanKey(one) === spanKey(group));
    return under.flatMap(({ hour, traceSetHash }) =>
      Array.from({ length: parts }, (_, part): Kept => {
        const members = [...this.#traces].filter(
          ([trace, versions]) =>
            versions.has(hour) && trace % parts === part && spanKey(this.#groupOf(trace)) === spanKey(group),
        );
        const manifest: RollupManifest = {
          ...group,
          hour,
          slice: part,
          slices: parts,
          traceSetHash: traceSetHash,
          fingerprint,
          batch: String(this.#batches++),
          records: members.length,
          first_started_at_us: 0,
          last_started_at_us: 0,
          llms: [],
        };
        return { manifest, traces: new Map(members.map(([trace, versions]) => [trace, textOf(versions)])) };
      }),
    );
  }

  /** Later manifests replace earlier ones. */
  keep({ manifest, traces }: Kept): void {
    this.#kept.set(`${manifest.hour} ${spanKey(manifest)} ${manifest.slice}`, { manifest, traces });
  }

  look(hours: readonly number[]): RollupSnapshot {
    const looked = new Set(hours);
    const fingerprints = this.#fingerprints();
    return {
      hours: hours.filter((hour) => fingerprints.hours.includes(hour)),
      fingerprints,
      multiHour: this.multiHour().filter(({ hour }) => looked.has(hour)),
      manifests: [...this.#kept.values()]
        .map(({ manifest }) => manifest)
        .filter(({ hour }) => looked.has(hour)),
    };
  }

  /** How often each trace that lies under some hours would be counted, with its state if it is not of now. */
  counts(
    hours: readonly number[],
    {
      manifests,
      groups,
      unmaterializedHours: liveHours,
      unmaterializedSpanHours: hoursOfLiveGroups,
    }: RollupCoverage,
  ): ReadonlyMap<number, string> {
    const materializedGroups = new Set(groups.map(spanKey));
    const kept = new Map([...this.#kept.values()].map((one) => [one.manifest.batch, one]));
    const found = new Map<number, string>();
    for (const [trace, versions] of this.#traces) {
      const looked = hours.filter((hour) => versions.has(hour));
      if (looked.length === 0) continue;
      const noted = [...this.#noted.get(trace)!];
      const isMultiHour = noted.length > 1;
      const isLive =
        looked.some((hour) => liveHours.includes(hour)) ||
        (isMultiHour &&
          !materializedGroups.has(spanKey(this.#groupOf(trace))) &&
          noted.some((hour) => liveHours.includes(hour) || hoursOfLiveGroups.includes(hour)));
      const ofHeads = looked.map((hour) =>
        manifests.flatMap((manifest) => {
          const state = manifest.hour === hour ? kept.get(manifest.batch)?.traces.get(trace) : undefined;
          return state === undefined ? [] : [state === textOf(versions) ? "now" : "stale"];
        }),
      );
      found.set(trace, [isLive ? "live" : "", ...ofHeads.map((states) => states.join("+"))].join(" ").trim());
    }
    return found;
  }

  multiHour(): readonly MultiHourTraceSet[] {
    const rows = new Map<string, MultiHourTraceSet>();
    for (const [trace, hours] of this.#noted) {
      if (hours.size === 1) continue;
      const group = this.#groupOf(trace);
      for (const hour of hours) {
        const key = `${hour} ${spanKey(group)}`;
        const traceSetHash = BigInt(rows.get(key)?.traceSetHash ?? 0) + hashOf(`trace ${trace}`);
        rows.set(key, { ...group, hour, traceSetHash: String(BigInt.asUintN(64, traceSetHash)) });
      }
    }
    return [...rows.values()];
  }

  #groupOf(trace: number): HourSpan {
    const hours = [...this.#noted.get(trace)!];
    const [first, last] = [Math.min(...hours), Math.max(...hours)];
    if (hours.length === 1) return singleHour(first);
    const group = { first, last };
    return last - first < MAX_SPAN_HOURS ? group : { first: 0, last: -1 };
  }

  #excludedUnder(hour: number): string {
    const all = this.multiHour().filter((one) => one.hour === hour);
    return String(
      BigInt.asUintN(
        64,
        all.reduce((sum, { traceSetHash }) => sum + BigInt(traceSetHash), 0n),
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
