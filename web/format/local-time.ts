/** Local clocks and the instants that they show, in ms. A clock is written as if it were UTC. */

const formats = new Map<string, Intl.DateTimeFormat>();

/** Making a format takes longer than using it, so each is made once. */
export function formatOf(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = zone + JSON.stringify(options);
  const found =
    formats.get(key) ?? new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", ...options });
  formats.set(key, found);
  return found;
}

const CLOCK = {
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
} as const;

/** Local date and time in a zone. */
export function clockOf(ms: number, zone: string): number {
  const whole = Math.floor(ms / 1000) * 1000;
  const parts = Object.fromEntries(
    formatOf(zone, CLOCK)
      .formatToParts(new Date(whole))
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<keyof typeof CLOCK, number>;
  const { year, month, day, hour, minute, second } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (ms - whole);
}

const SEARCHED_MS = 26 * 3_600_000;

/** When the clock of a zone first shows this or more: of a repeated hour the first, of a skipped one its end. */
export function instantOf(clock: number, zone: string): number {
  let [below, above] = [clock - SEARCHED_MS, clock + SEARCHED_MS];
  while (above - below > 1) {
    const middle = Math.floor((below + above) / 2);
    if (clockOf(middle, zone) >= clock) above = middle;
    else below = middle;
  }
  return above;
}

const DAY_MS = 86_400_000;

/** The clock at the last midnight, so many days later. */
export function midnightOf(clock: number, days = 0): number {
  return Math.floor(clock / DAY_MS) * DAY_MS + days * DAY_MS;
}

/** The clock at the beginning of the week, a Monday, so many weeks later. */
export function mondayOf(clock: number, weeks = 0): number {
  const weekday = (new Date(clock).getUTCDay() + 6) % 7;
  return midnightOf(clock, weeks * 7 - weekday);
}

/** The clock at the first of the month, so many months later. */
export function firstOf(clock: number, months = 0): number {
  const date = new Date(clock);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1);
}

/** 2026-11-20T14:00, as fields of forms have it. */
export function printClock(clock: number): string {
  return new Date(clock).toISOString().slice(0, 16);
}

/** NaN: it is none. */
export function readClock(text: string): number {
  return Date.parse(`${text}Z`);
}

/** 2026-10-25T02:00+01:00 */
export function localTime(ms: number, zone: string): string {
  const clock = clockOf(ms, zone);
  const minutes = Math.round((clock - ms) / 60_000);
  const offset = new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16);
  return `${new Date(clock).toISOString().slice(0, 16)}${minutes < 0 ? "-" : "+"}${offset}`;
}
