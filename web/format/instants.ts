import { clockOf, formatOf, midnightOf } from "./local-time.ts";

const TIME = {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
} as const;
const DAY = { day: "numeric", month: "short" } as const;

/** 14:02:11.204 if the day is clear from the context, 21 Nov 14:02:11 otherwise. */
export function formatTime(iso: string, zone: string, { now }: { readonly now: number }): string {
  const at = new Date(iso);
  if (dayOf(at, zone) === dayOf(new Date(now), zone)) return formatOf(zone, TIME).format(at);
  return `${formatOf(zone, DAY).format(at)} ${formatOf(zone, { ...TIME, fractionalSecondDigits: undefined }).format(at)}`;
}

/** The text of `clock` up to the minute, and the rest. */
export function minuteOf(clock: string): readonly [minute: string, rest: string] {
  const end = clock.lastIndexOf(":");
  return [clock.slice(0, end), clock.slice(end)];
}

/** With day, zone and milliseconds. */
export function fullInstant(iso: string, zone: string): string {
  const options = { ...DAY, year: "numeric", ...TIME, timeZoneName: "short" } as const;
  return formatOf(zone, options).format(new Date(iso));
}

/** 1–30 Nov · 21 Nov 14:00 – 22 Nov 03:00; with the year where it is not this one. */
export function formatInterval(fromMs: number, toMs: number, zone: string, now: number = Date.now()): string {
  const yearOf = (ms: number): string => formatOf(zone, { year: "numeric" }).format(new Date(ms));
  const isThisYear = [fromMs, toMs].every((ms) => yearOf(ms) === yearOf(now));
  const year = isThisYear ? {} : ({ year: "numeric" } as const);
  const isOfDays = [fromMs, toMs].every((ms) => midnightOf(clockOf(ms, zone)) === clockOf(ms, zone));
  const clocked = isOfDays ? {} : ({ hour: "2-digit", minute: "2-digit" } as const);
  return formatOf(zone, { ...DAY, ...year, ...clocked }).formatRange(
    new Date(fromMs),
    new Date(isOfDays ? toMs - 1 : toMs),
  );
}

function dayOf(at: Date, zone: string): string {
  return formatOf(zone, { year: "numeric", month: "2-digit", day: "2-digit" }).format(at);
}

const HOUR_MS = 3_600_000;

/** Local start of a bucket, with the offset in an ambiguous hour. */
function nameOfStart(fromMs: number, zone: string, options: Intl.DateTimeFormatOptions): string {
  const name = formatOf(zone, options).format(new Date(fromMs));
  const isTwice = [-HOUR_MS, HOUR_MS].some((ms) => clockOf(fromMs + ms, zone) === clockOf(fromMs, zone));
  if (options.hour === undefined || !isTwice) return name;
  const offset = formatOf(zone, { timeZoneName: "shortOffset" }).formatToParts(new Date(fromMs));
  return `${name} (${offset.find(({ type }) => type === "timeZoneName")?.value ?? "UTC"})`;
}

/** Local start of a bucket; for a day that is not 24 hours long, its length as well. */
export function bucketName(
  fromMs: number,
  toMs: number,
  { zone, granularity }: { readonly zone: string; readonly granularity: number },
): string {
  const daily = granularity % 86_400 === 0;
  const clocked = daily ? {} : ({ hour: "2-digit", minute: "2-digit" } as const);
  const name = nameOfStart(fromMs, zone, { weekday: "short", ...DAY, ...clocked });
  const hours = (toMs - fromMs) / HOUR_MS;
  return granularity === 86_400 && hours !== 24 ? `${name} (${hours} h)` : name;
}

/** On an axis: the day where it begins, the time otherwise. */
export function tick(ms: number, zone: string): string {
  const time = formatOf(zone, { hour: "2-digit", minute: "2-digit" }).format(new Date(ms));
  return time === "00:00" ? formatOf(zone, DAY).format(new Date(ms)) : time;
}

/** On an axis of months: the year where it begins, too. */
export function monthTick(ms: number, zone: string): string {
  const isJanuary = formatOf(zone, { month: "numeric" }).format(new Date(ms)) === "1";
  const year = isJanuary ? ({ year: "numeric" } as const) : {};
  return formatOf(zone, { month: "short", ...year }).format(new Date(ms));
}
