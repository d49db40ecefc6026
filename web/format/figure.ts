/** A number as shown, and in full. */
export interface FormattedNumber {
  readonly text: string;
  /** On hover and in copies: every digit. */
  readonly exact: string;
}

const axisNumbers = new Intl.NumberFormat("en-US", { maximumFractionDigits: 14 });
const grouped = new Intl.NumberFormat("en-US");
const percentages = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

/** 1,234 · 12.3 k · 4.56 M */
export function formatCount(count: number): FormattedNumber {
  return { text: short(count), exact: grouped.format(count) };
}

function short(count: number): string {
  if (Math.abs(count) < 10_000) return grouped.format(count);
  for (const [unit, size] of [
    ["k", 1e3],
    ["M", 1e6],
    ["G", 1e9],
    ["T", 1e12],
  ] as const) {
    const digits = threeDigits(count / size);
    if (Math.abs(Number(digits)) < 1000 || unit === "T") return `${digits} ${unit}`;
  }
  return grouped.format(count);
}

function threeDigits(value: number): string {
  return Math.abs(value) < 999.5 ? value.toPrecision(3) : value.toFixed(0);
}

/** Dollars with three significant digits, and never fewer than two decimals: $412.08, $0.0312, $0.00000180. */
export function formatUsd(usd: number): FormattedNumber {
  const sign = usd < 0 ? "−" : "";
  const size = Math.abs(usd);
  return { text: `${sign}$${dollarDigits(size)}`, exact: `${sign}$${plainDecimal(size)}` };
}

/** On an axis: as many decimals as the step needs, and no fewer than two where there are any. */
export function axisDollars(usd: number): string {
  return `$${axisNumbers.format(Number(usd.toPrecision(12)))}`.replace(/\.(\d)$/, ".$10");
}

function dollarDigits(usd: number): string {
  return usd === 0 ? "0" : withDecimals(decimalsOf(usd)).format(usd);
}

/** How many digits dollars have behind the point. */
export function decimalsOf(usd: number | null): number {
  if (usd === null || usd === 0) return 0;
  return Math.min(14, Math.max(2, 2 - Math.floor(Math.log10(Math.abs(usd)))));
}

/** Making one takes longer than using it, so each is made once. */
const formats = new Map<number, Intl.NumberFormat>();

function withDecimals(decimals: number): Intl.NumberFormat {
  const known = formats.get(decimals);
  if (known !== undefined) return known;
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const format = new Intl.NumberFormat("en-US", digits);
  formats.set(decimals, format);
  return format;
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
  return {
    text: new Intl.NumberFormat("en-US", { maximumFractionDigits: 12 }).format(shown),
    exact: String(value),
  };
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
