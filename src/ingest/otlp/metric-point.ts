import type { Attributes } from "./attributes.ts";

/** A number data point of a sum, as sent. Gauges, histograms and summaries are accepted, but not read. */
export interface OtelMetricPoint {
  readonly metric: string;
  readonly kind: "delta" | "cumulative";
  /** 0 if not sent. */
  readonly startedAtNanos: bigint;
  readonly atNanos: bigint;
  /** May be infinite or NaN. */
  readonly value: number;
  readonly attributes: Attributes;
}
