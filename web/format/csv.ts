import { plainDecimal } from "./figure.ts";
import { localTime } from "./local-time.ts";

/** Rows in the form of RFC 4180. Unknown is empty. A text that a spreadsheet would evaluate gets an apostrophe. */
export function csv(rows: readonly (readonly (string | number | null)[])[]): string {
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function cell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return plainDecimal(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

interface Interval {
  readonly fromMs: number;
  /** Undefined: now. */
  readonly toMs: number | undefined;
}

/** usage acme-app 2026-10-01–2026-10-28.csv, with the local days of the range. */
export function csvNameOf(
  what: string,
  { project, window: { fromMs, toMs = Date.now() } }: { readonly project: string; readonly window: Interval },
  zone: string,
): string {
  const [from, to] = [fromMs, toMs - 1].map((ms) => localTime(ms, zone).slice(0, 10));
  return `${what} ${project.replaceAll("/", "-")} ${from}${from === to ? "" : `–${to}`}.csv`;
}
