const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|z|[+-]\d\d(?::?\d\d)?)?$/;

/** Microseconds since the epoch; a safe integer for the years 1684 to 2255. */
export type EpochMicros = number;

export const HOUR_MICROS = 3_600_000_000;

/** Hours since the epoch, as the key of `calls` counts them. */
export function hourOf(micros: EpochMicros): number {
  const within = ((micros % HOUR_MICROS) + HOUR_MICROS) % HOUR_MICROS;
  return (micros - within) / HOUR_MICROS;
}

/** An ISO 8601 instant as `readInstant`. Errors: undefined also outside the years 1900 to 2255, which the store cannot hold. */
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
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(year!, month! - 1, day);
  date.setUTCHours(hour!, minute, second, 0);
  if (
    date.getUTCMonth() !== month! - 1 ||
    date.getUTCDate() !== day! ||
    hour! > 23 ||
    minute! > 59 ||
    second! > 59
  ) {
    return undefined;
  }
  const micros = Number((match[7] ?? "").slice(0, 6).padEnd(6, "0"));
  const offset = offsetMs(match[8]);
  return offset === undefined ? undefined : (date.getTime() - offset) * 1000 + micros;
}

/** Nanoseconds since the epoch, as OpenTelemetry counts, to microseconds. */
export function fromUnixNanos(nanos: bigint): EpochMicros | undefined {
  return inRange(Number(nanos / 1000n));
}

/** The store's text of an instant: `YYYY-MM-DD HH:MM:SS.ffffff`, UTC. */
export function toStoreText(micros: EpochMicros): string {
  const ms = Math.floor(micros / 1000);
  const iso = new Date(ms).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}${String(micros - ms * 1000).padStart(3, "0")}`;
}

/** The same of milliseconds: `YYYY-MM-DD HH:MM:SS.mmm`. */
export function toStoreTextMs(ms: number): string {
  return new Date(ms).toISOString().slice(0, -1).replace("T", " ");
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

/** Undefined when it is longer than a clock shows. */
function offsetMs(zone: string | undefined): number | undefined {
  if (zone === undefined || zone.toUpperCase() === "Z") return 0;
  const digits = zone.slice(1).replace(":", "");
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2, 4) || 0)];
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
