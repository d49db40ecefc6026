import { toPicodollar } from "./usage.ts";

/** A number as shown, and in full. */
export interface FormattedNumber {
  readonly text: string;
  /** On hover and in copies: every digit. */
  readonly exact: string;
}

const manyDigits = new Intl.NumberFormat("en-US", { maximumFractionDigits: 14 });
const grouped = new Intl.NumberFormat("en-US");
const compact = new Intl.NumberFormat("en-US", {
  notation: "compact",
  minimumSignificantDigits: 3,
  maximumSignificantDigits: 3,
});
const dollars = new Intl.NumberFormat("en-US", {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  minimumSignificantDigits: 3,
  maximumSignificantDigits: 3,
  roundingPriority: "morePrecision",
});
const percentages = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

/** 1,234 · 12.3K · 4.56M */
export function formatCount(count: number): FormattedNumber {
  const text = (Math.abs(count) < 10_000 ? grouped : compact).format(count);
  return { text, exact: grouped.format(count) };
}

function threeDigits(value: number): string {
  return Math.abs(value) < 999.5 ? value.toPrecision(3) : value.toFixed(0);
}

/** Dollars with three significant digits, and never fewer than two decimals: $412.08, $0.0312, $0.00000180. */
export function formatUsd(usd: number): FormattedNumber {
  const sign = usd < 0 ? "−" : "";
  const size = Math.abs(usd);
  return {
    text: `${sign}$${usd === 0 ? "0" : dollars.format(size)}`,
    exact: `${sign}$${plainDecimal(toPicodollar(size))}`,
  };
}

/** On an axis: as many decimals as the step needs, and no fewer than two where there are any. */
export function axisDollars(usd: number): string {
  return `$${manyDigits.format(Number(usd.toPrecision(12)))}`.replace(/\.(\d)$/, ".$10");
}

/** How many digits dollars have behind the point. */
export function decimalsOf(usd: number | null): number {
  return formatUsd(usd ?? 0).text.split(".")[1]?.length ?? 0;
}

/** All digits that distinguish the number from its neighbours, without an exponent. */
export function plainDecimal(value: number): string {
  const text = String(value);
  if (!text.includes("e-")) return text;
  const [digits = "", exponent = "0"] = text.split("e-");
  return `0.${"0".repeat(Number(exponent) - 1)}${digits.replace(".", "")}`;
}

/** A mean, a rate, a percentile: three significant digits. */
export function plainNumber(value: number): FormattedNumber {
  const shown = Number.isInteger(value) && Math.abs(value) < 1e6 ? value : Number(value.toPrecision(3));
  return { text: manyDigits.format(shown), exact: String(value) };
}

/** 0.4 of a whole as 40 %; never more than two decimals. */
export function formatPercent(part: number): FormattedNumber {
  const percent = part * 100;
  const isTiny = percent !== 0 && Math.abs(percent) < 0.01;
  const rounded = Number(Number(percent.toPrecision(3)).toFixed(2));
  return {
    text: isTiny ? "< 0.01 %" : `${percentages.format(rounded)} %`,
    exact: `${plainDecimal(percent)} %`,
  };
}

/** +12 % or −3 %, from one number to another; undefined where that has no meaning. */
export function formatChange(before: number, now: number): FormattedNumber | undefined {
  if (before <= 0) return undefined;
  const ratio = now / before - 1;
  if (ratio > 9.995) return { text: `× ${threeDigits(now / before)}`, exact: `× ${now / before}` };
  const { text, exact } = formatPercent(Math.abs(ratio));
  const sign = ratio === 0 ? "±" : ratio > 0 ? "+" : "−";
  return { text: `${sign}${text}`, exact: `${sign}${exact}` };
}

/** 1 call, 2 calls. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count).text} ${count === 1 ? one : many}`;
}

/** 850 ms · 41.2 s · 3 min 05 s · 2 h 14 min */
export function formatDuration(ms: number): FormattedNumber {
  return { text: shortDuration(ms), exact: `${grouped.format(ms)} ms` };
}

function shortDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 99.95) return `${threeDigits(seconds)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  if (hours === 0) return `${minutes} min ${two(rest)} s`;
  if (hours < 48) return `${hours} h ${two(minutes)} min`;
  return `${grouped.format(Math.round(hours / 24))} d`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
