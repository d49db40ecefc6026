import { scaleUtc } from "@visx/scale";
import { bucketName, monthTick, tick } from "../format/instants.ts";
import { clockOf, firstOf, instantOf } from "../format/local-time.ts";

/** Buckets of local time, and the window that was read into them. */
export interface Buckets {
  /** Their starts, in ms. */
  readonly times: readonly number[];
  /** The end of the last one. */
  readonly endMs: number;
  /** Their usual length, in s. */
  readonly granularity: number;
  readonly fromMs: number;
  readonly toMs: number;
}

interface BucketsRes {
  readonly start: string;
  readonly end: string;
  readonly granularity: number;
  readonly buckets: readonly { readonly timestamp: string }[];
}

const HOUR_S = 3600;

/** Reads the buckets of an answer. A bucket longer than an hour lasts by the clock, however many hours that is. */
export function bucketsOf({ start, end, granularity, buckets }: BucketsRes, zone: string): Buckets {
  const times = buckets.map(({ timestamp }) => Date.parse(timestamp));
  const [last, toMs] = [times.at(-1) ?? 0, Date.parse(end)];
  const endOfLast =
    granularity <= HOUR_S
      ? last + granularity * 1000
      : instantOf(clockOf(last, zone) + granularity * 1000, zone);
  return { times, endMs: Math.max(endOfLast, toMs), granularity, fromMs: Date.parse(start), toMs };
}

/** Start and end of a bucket. */
export function edgesOf({ times, endMs }: Pick<Buckets, "times" | "endMs">, at: number): [number, number] {
  return [times[at] ?? endMs, times[at + 1] ?? endMs];
}

/** The time that was counted in buckets: they may begin before the window that was read, and end after it. */
export function windowOf(buckets: Buckets, first: number, last = first): { fromMs: number; toMs: number } {
  const [fromMs, toMs] = [edgesOf(buckets, first)[0], edgesOf(buckets, last)[1]];
  return { fromMs: Math.max(fromMs, buckets.fromMs), toMs: Math.min(toMs, buckets.toMs) };
}

/** The bucket that an instant lies in, however long it is: its start belongs to it. Outside: the first or the last. */
export function bucketAt({ times }: Pick<Buckets, "times">, ms: number): number {
  let [low, high] = [0, times.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle]! <= ms) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function nameOf(buckets: Buckets, at: number, zone: string): string {
  return bucketName(...edgesOf(buckets, at), { zone, granularity: buckets.granularity });
}

/** Why a bucket cannot be compared with the others; undefined: it can. */
export function noteOf(buckets: Buckets, at: number, zone: string, now = Date.now()): string | undefined {
  const [from, to] = edgesOf(buckets, at);
  if (to > now && to > buckets.toMs) return "not over yet";
  const clock = (ms: number): string => tick(ms, zone);
  if (to > buckets.toMs) return `only until ${clock(buckets.toMs)}`;
  if (from < buckets.fromMs) return `only from ${clock(buckets.fromMs)}`;
  const hours = (to - from) / 3_600_000;
  return hours === buckets.granularity / HOUR_S
    ? undefined
    : `${hours} h long instead of ${buckets.granularity / HOUR_S} h`;
}

const [MAX_TICKS, COARSER] = [40, 1.5];

/** Texts below the starts of buckets: the first ones of hours, days or months, as many as do not overlap. */
export function timeTicks(
  { times }: Pick<Buckets, "times">,
  zone: string,
  isApart: (fromMs: number, toMs: number) => boolean,
): readonly { readonly ms: number; readonly text: string }[] {
  const clocks = times.map((ms) => clockOf(ms, zone));
  const [first = 0, last = first] = [clocks[0], clocks.at(-1)];
  const scale = scaleUtc({ domain: [first, last] });
  for (let count = Math.min(times.length, MAX_TICKS); count >= 1; count /= COARSER) {
    const nice = scale.ticks(count).map(Number);
    // a bucket may begin after a nice time: weeks begin on Monday here
    const found = nice.flatMap((clock) => times[clocks.findIndex((one) => one >= clock)] ?? []);
    const starts = [...new Set(found)];
    if (starts.some((ms, at) => at > 0 && !isApart(starts[at - 1]!, ms))) continue;
    const isMonthly = starts.length > 1 && starts.every((ms) => isFirst(clockOf(ms, zone)));
    const text = isMonthly ? monthTick : tick;
    return (starts.length === 0 ? times.slice(0, 1) : starts).map((ms) => ({ ms, text: text(ms, zone) }));
  }
  return times.slice(0, 1).map((ms) => ({ ms, text: tick(ms, zone) }));
}

function isFirst(clock: number): boolean {
  return firstOf(clock) === clock;
}
