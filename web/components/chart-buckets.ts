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

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const monthOf = (clock: number): number =>
  new Date(clock).getUTCFullYear() * 12 + new Date(clock).getUTCMonth();
/** By which a clock can be divided, from minutes to years; weeks begin on Monday. */
const PERIODS: readonly ((clock: number) => number)[] = [
  ...[1, 5, 15, 30, 60, 120, 180, 360, 720, 1440, 2880].map(
    (minutes) => (clock: number) => Math.floor(clock / (minutes * MINUTE_MS)),
  ),
  (clock) => Math.floor((clock + 3 * DAY_MS) / (7 * DAY_MS)),
  ...[1, 2, 3, 6, 12, 24, 60].map((months) => (clock: number) => Math.floor(monthOf(clock) / months)),
];

/** Texts below the starts of buckets: the first ones of hours, days or months, as many as do not overlap. */
export function timeTicks(
  { times }: Pick<Buckets, "times">,
  zone: string,
  isApart: (fromMs: number, toMs: number) => boolean,
): readonly { readonly ms: number; readonly text: string }[] {
  const clocks = times.map((ms) => clockOf(ms, zone));
  for (const period of PERIODS) {
    const starts = times.filter((_, at) => {
      const clock = clocks[at]!;
      return period(clocks[at - 1] ?? clock - 1) !== period(clock);
    });
    if (starts.some((ms, at) => at > 0 && !isApart(starts[at - 1]!, ms))) continue;
    const isMonthly = starts.length > 1 && starts.every((ms) => isFirst(clockOf(ms, zone)));
    const text = isMonthly ? monthTick : tick;
    return (starts.length === 0 ? times.slice(0, 1) : starts).map((ms) => ({ ms, text: text(ms, zone) }));
  }
  return [];
}

function isFirst(clock: number): boolean {
  return firstOf(clock) === clock;
}
