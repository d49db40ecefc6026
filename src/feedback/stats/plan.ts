import type { Buckets, TimeWindow } from "../../buckets/buckets.ts";
import { bucketsOf } from "../../http/schemas/window-fields.ts";
import type { Sql } from "../../query/sql.ts";
import { invalid } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import { outputKey, outputNames, planMetrics, type Metric } from "./metrics.ts";
import type { StatsRequest } from "./schema.ts";
import { printStatement } from "./statement.ts";
import { rowsOf } from "./window.ts";

/** Everything that is decided before querying the store. */
export interface StatsPlan {
  readonly window: TimeWindow;
  readonly timezone: string;
  readonly buckets: Buckets;
  readonly metrics: readonly Metric[];
  /** Yields `StatsRow`s. Undefined for a window without buckets. */
  readonly statement: Sql | undefined;
}

/** Errors: validation, when the window ends before it starts or The response would be too large. */
export function planStats(project: Project, request: StatsRequest, nowMs: number): StatsPlan {
  const rows = rowsOf(project, request, nowMs);
  const { window, timezone, buckets } = bucketsOf(request, nowMs);
  const metrics = planMetrics(request.metrics);
  rejectLargeResponse(buckets, metrics);
  const statement =
    buckets.startsUs.length === 0 ? undefined : printStatement(rows, buckets.startsUs, metrics);
  return { window, timezone, buckets, metrics, statement };
}

const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** The longest number, its separators and quotes. */
const BYTES_PER_VALUE = 28;
/** A timestamp and a count. */
const BYTES_PER_BUCKET = 60;

function rejectLargeResponse(buckets: Buckets, metrics: readonly Metric[]): void {
  let bytes = BYTES_PER_BUCKET;
  for (const metric of metrics) {
    for (const name of outputNames(metric)) bytes += outputKey(name, metric.slug).length + BYTES_PER_VALUE;
  }
  const count = buckets.startsUs.length;
  if (bytes * count <= MAX_ANSWER_BYTES) return;
  const msg = `The response would be too large: ${count} buckets of about ${bytes} bytes. Ask for fewer numbers or a larger granularity`;
  throw invalid([{ loc: ["body", "metrics"], msg, type: "too_long" }]);
}
