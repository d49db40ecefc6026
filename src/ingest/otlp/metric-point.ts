import type { Project } from "../../shared/project.ts";
import type { Attributes } from "./attributes.ts";
import type { SpanOrigin } from "./span.ts";

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

/** A data point with what it is stored by. */
export interface SentPoint {
  readonly project: Project;
  /** Id of the API key. */
  readonly apiKey: string;
  readonly origin: SpanOrigin;
  readonly point: OtelMetricPoint;
}
