const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|z|[+-]\d\d(?::?\d\d)?)?$/;

/** After so many years the calendar is the same again. */
const CYCLE_YEARS = 400;
const CYCLE_MS = 146_097 * 86_400_000;

/** Microseconds since the epoch; a safe integer for the years 1684 to 2255. */
export type EpochMicros = number;

export const HOUR_MICROS = 3_600_000_000;

/** Hours since the epoch, as the key of `calls` counts them. */
export function hourOf(micros: EpochMicros): number {
  const within = ((micros % HOUR_MICROS) + HOUR_MICROS) % HOUR_MICROS;
  return (micros - within) / HOUR_MICROS;
}

/** An ISO 8601 instant as `readInstant`. Errors: undefined also outside the years 1900 to 2254, which the store cannot hold. */
export function parseInstant(text: string): EpochMicros | undefined {
  const micros = readInstant(text);
  return micros === undefined ? undefined : inRange(micros);
}

/**
 * Reads an ISO 8601 instant of the years 0000 to 9999, a naive one as UTC, at microsecond precision (further digits
 * are cut). Errors: undefined when it is not one.
 */
export function readInstant(text: string): EpochMicros | undefined {
  const match = ISO.exec(text.trim());
  if (match === null) return undefined;
  const [month, day] = [Number(match[2]), Number(match[3])];
  const [hour, minute, second] = [Number(match[4] ?? 0), Number(match[5] ?? 0), Number(match[6] ?? 0)];
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return undefined;
  // `Date.UTC` takes the years 0 to 99 for those of the twentieth century
  const ms = Date.UTC(Number(match[1]) + CYCLE_YEARS, month - 1, day, hour, minute, second) - CYCLE_MS;
  if (new Date(ms).getUTCDate() !== day) return undefined;
  const micros = Number((match[7] ?? "").slice(0, 6).padEnd(6, "0"));
  const offset = offsetMs(match[8]);
  return offset === undefined ? undefined : (ms - offset) * 1000 + micros;
}

/** Seconds since the epoch, also of instants that the store cannot hold. */
export function fromUnixSeconds(seconds: number): EpochMicros {
  return Math.round(seconds * 1_000_000);
}

/**
 * Clamps an instant so that it stays before, or after, everything stored. The servers of a cluster do not
 * agree on instants that are much further away.
 */
export function withinReach(micros: EpochMicros): EpochMicros {
  return Math.min(Math.max(micros, MIN_MICROS - 1), MAX_MICROS);
}

/** Nanoseconds since the epoch, as OpenTelemetry counts, to microseconds. */
export function fromUnixNanos(nanos: bigint): EpochMicros | undefined {
  return inRange(Number(nanos / 1000n));
}

/** The minute of the last text: instants next to each other often share it, and writing a date takes long. */
const last = { minute: Number.NaN, text: "" };
const MINUTE_MICROS = 60_000_000;

/** The store's text of an instant: `YYYY-MM-DD HH:MM:SS.ffffff`, UTC. */
export function toStoreText(micros: EpochMicros): string {
  const minute = Math.floor(micros / MINUTE_MICROS);
  if (minute !== last.minute) {
    last.text = new Date(minute * 60_000).toISOString().slice(0, 17).replace("T", " ");
    last.minute = minute;
  }
  const rest = String(micros - minute * MINUTE_MICROS).padStart(8, "0");
  return `${last.text}${rest.slice(0, 2)}.${rest.slice(2)}`;
}

/** The same of milliseconds: `YYYY-MM-DD HH:MM:SS.mmm`. */
export function toStoreTextMs(ms: number): string {
  return new Date(ms).toISOString().slice(0, -1).replace("T", " ");
}

/** ISO 8601 UTC ending in `Z`: to the millisecond, or to the microsecond where there is more. */
export function isoOf(micros: EpochMicros): string {
  // what is not an exact number of microseconds is one of milliseconds
  const ms = Number.isSafeInteger(micros) ? Math.floor(micros / 1000) : Math.round(micros / 1000);
  const text = new Date(ms).toISOString();
  const rest = Number.isSafeInteger(micros) ? micros - ms * 1000 : 0;
  return rest === 0 ? text : `${text.slice(0, -1)}${String(rest).padStart(3, "0")}Z`;
}

/** ISO 8601 UTC ending in `Z`, from the store's text. */
export function toIso(storeText: string): string {
  return `${storeText.replace(" ", "T")}Z`;
}

const MIN_MICROS = Date.UTC(1900, 0, 1) * 1000;
const MAX_MICROS = Date.UTC(2255, 0, 1) * 1000;

function inRange(micros: number): EpochMicros | undefined {
  return micros >= MIN_MICROS && micros < MAX_MICROS ? micros : undefined;
}

/** Undefined if the result is out of range. */
function offsetMs(zone: string | undefined): number | undefined {
  if (zone === undefined || zone.toUpperCase() === "Z") return 0;
  const digits = zone.slice(1).replace(":", "");
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2, 4) || 0)];
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
