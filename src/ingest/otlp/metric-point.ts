import type { Attributes } from "./attributes.ts";
import type { SpanOrigin } from "./span.ts";

/** A number data point of a sum or gauge, as sent. Histograms and summaries are accepted, but not read. */
export interface OtelMetricPoint {
  readonly metric: string;
  /** `delta`, `cumulative`: of a sum. */
  readonly kind: "delta" | "cumulative" | "gauge";
  /** 0 if not sent. */
  readonly startedAtNanos: bigint;
  readonly atNanos: bigint;
  readonly value: number;
  readonly attributes: Attributes;
}

/** Points of a metric decoded on demand, so that a malformed one does not reject the others. */
export interface SentMetric {
  readonly origin: SpanOrigin;
  /** Returns the points, each of them or the reason why it is rejected. */
  readonly decode: () => readonly (OtelMetricPoint | string)[];
}
