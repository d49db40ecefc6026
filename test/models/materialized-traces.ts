import type { RollupSnapshot, RollupCoverage } from "../../src/usage-rollup/coverage.ts";
import { Fingerprints } from "../../src/usage-rollup/fingerprints.ts";
import { spanKey, MAX_SPAN_HOURS, singleHour, type HourSpan } from "../../src/usage-rollup/hour-span.ts";
import type { RollupManifest } from "../../src/usage-rollup/manifests.ts";
import type { MultiHourTraceSet } from "../../src/usage-rollup/multi-hour-traces.ts";

/** Number of writes of a trace by hour. */
type Versions = ReadonlyMap<number, number>;

/** Manifest with the state of its traces at materialization. */
interface StoredManifest {
  readonly manifest: RollupManifest;
  readonly traces: ReadonlyMap<number, string>;
}

/** Minimal model of traces, their index and their rollup: shows whether a query counts each trace once. */
export class MaterializedTraces {
  readonly #traces = new Map<number, Map<number, number>>();
  /** Hours of each trace in `trace_hours`; indexed before the write. */
  readonly #indexed = new Map<number, Set<number>>();
  readonly #stored = new Map<string, StoredManifest>();
  #batches = 0;

  index(trace: number, hour: number): void {
    const hours = this.#indexed.get(trace) ?? new Set();
    this.#indexed.set(trace, hours.add(hour));
  }

  write(trace: number, hour: number): void {
    this.index(trace, hour);
    const versions = this.#traces.get(trace) ?? new Map<number, number>();
    this.#traces.set(trace, versions.set(hour, (versions.get(hour) ?? 0) + 1));
  }

  /** Computes the manifests of a span now, in so many slices. */
  fold(span: HourSpan, slices: number): readonly StoredManifest[] {
    const fingerprint = this.#fingerprints().of(span);
    const isOwn = span.first === span.last;
    const under = isOwn
      ? [{ hour: span.first, traceSetHash: this.#excludedUnder(span.first) }]
      : this.multiHour().filter((one) => spanKey(one) === spanKey(span));
    return under.flatMap(({ hour, traceSetHash }) =>
      Array.from({ length: slices }, (_, slice): StoredManifest => {
        const members = [...this.#traces].filter(
          ([trace, versions]) =>
            versions.has(hour) && trace % slices === slice && spanKey(this.#spanOf(trace)) === spanKey(span),
        );
        const manifest: RollupManifest = {
          ...span,
          hour,
          slice,
          slices,
          traceSetHash,
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
  store({ manifest, traces }: StoredManifest): void {
    this.#stored.set(`${manifest.hour} ${spanKey(manifest)} ${manifest.slice}`, { manifest, traces });
  }

  snapshot(hours: readonly number[]): RollupSnapshot {
    const requested = new Set(hours);
    const fingerprints = this.#fingerprints();
    return {
      hours: hours.filter((hour) => fingerprints.hours.includes(hour)),
      fingerprints,
      multiHour: this.multiHour().filter(({ hour }) => requested.has(hour)),
      manifests: [...this.#stored.values()]
        .map(({ manifest }) => manifest)
        .filter(({ hour }) => requested.has(hour)),
    };
  }

  /** Lists how each trace of some hours is counted: `now` or `stale` per manifest, or `uncovered`. */
  counts(
    hours: readonly number[],
    { manifests, spans, unmaterializedHours, unmaterializedSpanHours }: RollupCoverage,
  ): ReadonlyMap<number, string> {
    const materializedSpans = new Set(spans.map(spanKey));
    const stored = new Map([...this.#stored.values()].map((one) => [one.manifest.batch, one]));
    const found = new Map<number, string>();
    for (const [trace, versions] of this.#traces) {
      const own = hours.filter((hour) => versions.has(hour));
      if (own.length === 0) continue;
      const indexed = [...this.#indexed.get(trace)!];
      const isMultiHour = indexed.length > 1;
      const isUncovered =
        own.some((hour) => unmaterializedHours.includes(hour)) ||
        (isMultiHour &&
          !materializedSpans.has(spanKey(this.#spanOf(trace))) &&
          indexed.some(
            (hour) => unmaterializedHours.includes(hour) || unmaterializedSpanHours.includes(hour),
          ));
      const states = own.map((hour) =>
        manifests.flatMap((manifest) => {
          const state = manifest.hour === hour ? stored.get(manifest.batch)?.traces.get(trace) : undefined;
          return state === undefined ? [] : [state === textOf(versions) ? "now" : "stale"];
        }),
      );
      found.set(
        trace,
        [isUncovered ? "uncovered" : "", ...states.map((some) => some.join("+"))].join(" ").trim(),
      );
    }
    return found;
  }

  multiHour(): readonly MultiHourTraceSet[] {
    const rows = new Map<string, MultiHourTraceSet>();
    for (const [trace, hours] of this.#indexed) {
      if (hours.size === 1) continue;
      const span = this.#spanOf(trace);
      for (const hour of hours) {
        const key = `${hour} ${spanKey(span)}`;
        const traceSetHash = BigInt(rows.get(key)?.traceSetHash ?? 0) + hashOf(`trace ${trace}`);
        rows.set(key, { ...span, hour, traceSetHash: String(BigInt.asUintN(64, traceSetHash)) });
      }
    }
    return [...rows.values()];
  }

  #spanOf(trace: number): HourSpan {
    const hours = [...this.#indexed.get(trace)!];
    const [first, last] = [Math.min(...hours), Math.max(...hours)];
    if (hours.length === 1) return singleHour(first);
    const span = { first, last };
    return last - first < MAX_SPAN_HOURS ? span : { first: 0, last: -1 };
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
