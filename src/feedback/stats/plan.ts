import type { Buckets } from "../../buckets/buckets.ts";
import { bucketsOf } from "../../http/schemas/window-fields.ts";
import { invalid } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import type { Dimensions } from "../../stats/plan/dimensions.ts";
import { rowsOf, type FeedbackRows } from "./feedback-rows.ts";
import { outputKeys, planMetrics, type Metric } from "./metrics.ts";
import type { StatsRequest } from "./schema.ts";

/** Groups of a query, by the calls that feedback is about. */
export interface Grouping {
  readonly dimensions: Dimensions;
  /** Number of groups listed; the rest is `other`. */
  readonly maxGroups: number;
}

/** Query plan: rows, buckets, metrics and groups. */
export interface StatsPlan {
  readonly timezone: string;
  readonly buckets: Buckets;
  readonly metrics: readonly Metric[];
  readonly rows: FeedbackRows;
  /** `undefined` if not requested. */
  readonly grouping: Grouping | undefined;
}

export type GroupedPlan = StatsPlan & { readonly grouping: Grouping };

/** Plans a request. Errors: validation, if the window ends before it starts or the response would be too large. */
export function planStats(project: Project, request: StatsRequest, nowMs: number): StatsPlan {
  const rows = rowsOf(project, request, nowMs);
  const { timezone, buckets } = bucketsOf(request, nowMs);
  const metrics = planMetrics(request.metrics);
  rejectLargeResponse(buckets, metrics);
  const { group_by: dimensions, limit: maxGroups } = request;
  const grouping = dimensions.all.length === 0 ? undefined : { dimensions, maxGroups };
  return { timezone, buckets, metrics, rows, grouping };
}

const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** Bytes of the longest number, with separators and quotes. */
const BYTES_PER_VALUE = 28;
/** Bytes of a timestamp and a count. */
const BYTES_PER_BUCKET = 60;

function bytesPerPoint(metrics: readonly Metric[]): number {
  const keys = metrics.flatMap(outputKeys);
  return keys.reduce((bytes, key) => bytes + key.length + BYTES_PER_VALUE, BYTES_PER_BUCKET);
}

/** Maximum number of rows that a response has room for, beside `null` for each bucket without a row of a group. */
export function roomForRows({ buckets, metrics, grouping }: GroupedPlan): number {
  const nullBytes = buckets.startsUs.length * (grouping.maxGroups + 1) * "null,".length;
  return Math.max(1, Math.floor((MAX_RESPONSE_BYTES - nullBytes) / bytesPerPoint(metrics)));
}

function rejectLargeResponse(buckets: Buckets, metrics: readonly Metric[]): void {
  const bytes = bytesPerPoint(metrics);
  const count = buckets.startsUs.length;
  if (bytes * count <= MAX_RESPONSE_BYTES) return;
  const msg = `The response would be too large: ${count} buckets of about ${bytes} bytes. Request fewer numbers or a larger granularity`;
  throw invalid([{ loc: ["body", "metrics"], msg, type: "too_long" }]);
}
