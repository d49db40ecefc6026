import type { FeedbackMetric, FeedbackPath } from "../api/routes.ts";
import { formatCount, formatPercent, plainNumber } from "../format/figure.ts";

/** By aggregation: `avg`, `p50`, `count_true`, `rate`; null where there is no value. */
export type Values = Readonly<Record<string, number | null>>;

/** By type of value: the number of a card, with its name and format, and the columns of its table. */
export const SHOWN = {
  numeric: {
    main: "avg",
    word: "mean",
    format: plainNumber,
    columns: ["avg", "p10", "p50", "p90", "min", "max", "count"],
  },
  boolean: {
    main: "rate",
    word: "true",
    format: formatPercent,
    columns: ["count_true", "count_false", "rate"],
  },
  categorical: { main: "count", word: "labels", format: formatCount, columns: ["count"] },
} as const;

/** Adds the share of true. */
export function withRate(values: Values): Values {
  const [yes, no] = [values["count_true"] ?? 0, values["count_false"] ?? 0];
  return { ...values, rate: yes + no === 0 ? null : yes / (yes + no) };
}

/** Further spellings that a reaction has beside its emoji. */
const OF_EMOJI: ReadonlySet<string> = new Set(["alias", "detoned", "detoned_alias"]);

/** One path for each metric. */
export function metricPaths(paths: readonly FeedbackPath[]): readonly FeedbackPath[] {
  const isReaction = paths.some(({ json_path }) => json_path === "emoji");
  return paths.filter(({ json_path }) => !isReaction || !OF_EMOJI.has(json_path));
}

/** How a path is shown. */
export function nameOf({ json_path }: FeedbackPath): string {
  return json_path === "emoji" ? "reaction" : json_path;
}

const PERCENTILES = [10, 50, 90];

/** The aggregations of a path, by the type of its values. */
export function metricOf({ json_path, value_type }: FeedbackPath): FeedbackMetric {
  if (value_type === "numeric")
    return { json_path, value_type, aggregations: ["avg", "min", "max", "count"], percentiles: PERCENTILES };
  if (value_type === "boolean") return { json_path, value_type, aggregations: ["count_true", "count_false"] };
  return { json_path, value_type, aggregations: ["count"] };
}

/** The name of a path in an answer. */
export function slugOf(path: string): string {
  return path.replaceAll(/[^0-9A-Za-z_]/gu, "_");
}

/** Divides paths into as few questions as possible, each without equal names. */
export function questionsOf(paths: readonly FeedbackPath[]): readonly (readonly FeedbackPath[])[] {
  const questions: FeedbackPath[][] = [];
  const times = new Map<string, number>();
  for (const path of paths) {
    const slug = slugOf(path.json_path);
    const turn = times.get(slug) ?? 0;
    times.set(slug, turn + 1);
    (questions[turn] ??= []).push(path);
  }
  return questions;
}

/** A search for the traces that have a call with such feedback. */
export function searchOf({ json_path }: FeedbackPath, op: "$eq" | "$lte", value: Value): string {
  const at = { $getField: `feedback.[*].payload.${json_path}` };
  return JSON.stringify({ $expr: { [op]: [at, { $literal: value }] } });
}

export type Value = string | number | boolean;

/** The value at a path of a payload; undefined: none that is plain. */
export function valueAt(payload: object, path: string): Value | undefined {
  const value = path.split(".").reduce<unknown>(memberOf, payload);
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
