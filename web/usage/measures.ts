import type { UsageTotal } from "../api/routes.ts";
import { axisDollars, counted, formatCount, formatDuration, formatUsd } from "../format/figure.ts";
import type { FormattedNumber } from "../format/figure.ts";
import type { Subject } from "../state/groups.ts";

interface MeasureOf {
  /** Label of the button, and in lower case the head of the column. */
  readonly label: string;
  readonly kind: keyof typeof FORMATS;
  readonly valueOf: (total: UsageTotal) => number | null;
  /** Member that orders the groups; those of what does not add up are the dearest. Undefined: it is a column alone. */
  readonly order?: string;
  readonly unit?: string;
  /** Subject that has the measure; undefined: both. */
  readonly of?: Subject;
  /** Values of groups add up to that of the whole. */
  readonly addsUp?: boolean;
  /** Its column has the change, too. */
  readonly hasChange?: boolean;
}

const FORMATS = { usd: formatUsd, count: formatCount, ms: formatDuration };
const usd = { kind: "usd", order: "total_cost", hasChange: true } as const;
const count = (order: string, unit: string) =>
  ({ kind: "count", order, unit, addsUp: true, hasChange: ["traces", "calls"].includes(order) }) as const;
const tokens = (label: string, name: keyof UsageTotal & `${string}_tokens`) =>
  ({ label, kind: "count", valueOf: (total: UsageTotal) => total[name] }) as const;

const ALL = {
  cost: { label: "Cost", ...usd, addsUp: true, valueOf: (total) => total.total_cost ?? null },
  each: { label: "$ per trace", ...usd, of: "traces", valueOf: (total) => total.cost_per_trace ?? null },
  wasted: { label: "Wasted", kind: "usd", valueOf: (total) => total.wasted_cost ?? null },
  tokens: { ...tokens("Tokens", "total_tokens"), ...count("total_tokens", "token") },
  prompt_tokens: tokens("Prompt", "prompt_tokens"),
  cache_read_input_tokens: tokens("Cache read", "cache_read_input_tokens"),
  cache_creation_input_tokens: tokens("Cache write", "cache_creation_input_tokens"),
  completion_tokens: tokens("Completion", "completion_tokens"),
  traces: { label: "Traces", ...count("traces", "trace"), of: "traces", valueOf: (t) => t.traces ?? null },
  calls: { label: "Calls", ...count("calls", "call"), of: "calls", valueOf: (total) => total.calls },
  errors: { label: "Failed", ...count("errors", "failure"), valueOf: (t) => t.traces_failed ?? t.errors },
  latency: { label: "p95", ...usd, kind: "ms", valueOf: (total) => total.latency_ms?.["p95"] ?? null },
} as const satisfies Readonly<Record<string, MeasureOf>>;
export type Measure = keyof typeof ALL;
export const MEASURES: Readonly<Record<Measure, MeasureOf>> = ALL;

/** Columns, in their order. */
export const COLUMNS: Readonly<Record<Subject, readonly Measure[]>> = {
  calls: [
    ...(["calls", "errors", "prompt_tokens", "cache_read_input_tokens"] as const),
    ...(["cache_creation_input_tokens", "completion_tokens", "tokens", "cost"] as const),
  ],
  traces: ["traces", "errors", "wasted", "tokens", "latency", "each", "cost"],
};

/** The measures of calls or traces, with their labels. */
export function measuresOf(subject: Subject): Readonly<Record<string, string>> {
  const all = Object.entries(MEASURES).filter(
    ([, { of = subject, order }]) => of === subject && order !== undefined,
  );
  return Object.fromEntries(all.map(([name, { label }]) => [name, label]));
}

/** The measure of an address; of calls and traces, each counts itself. */
export function measureOf(text: string | undefined, subject: Subject): Measure {
  if (text === "calls" || text === "traces") return subject;
  return text !== undefined && Object.hasOwn(measuresOf(subject), text) ? (text as Measure) : "cost";
}

export function formatOf(measure: Measure): (value: number) => FormattedNumber {
  return FORMATS[MEASURES[measure].kind];
}

export function axisOf(measure: Measure): (value: number) => string {
  return MEASURES[measure].kind === "usd" ? axisDollars : (value) => formatOf(measure)(value).text;
}

/** The unit beside a value; dollars and durations have theirs. */
export function unitOf(measure: Measure, total: UsageTotal): string {
  const { unit, valueOf } = MEASURES[measure];
  return unit === undefined
    ? ""
    : counted(valueOf(total) ?? 0, unit)
        .split(" ")
        .at(-1)!;
}
