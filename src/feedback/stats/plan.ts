import type { Buckets, TimeWindow } from "../../buckets/buckets.ts";
import { bucketsOf } from "../../http/schemas/window-fields.ts";
import type { Sql } from "../../query/sql.ts";
import { invalid } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import { outputKey, outputNames, planMetrics, type Metric } from "./metrics.ts";
import type { StatsRequest } from "./schema.ts";
import { printStatement } from "./statement.ts";
import { rowsOf } from "./window.ts";

/** Query plan: buckets, metrics and statement. */
export interface StatsPlan {
  readonly window: TimeWindow;
  readonly timezone: string;
  readonly buckets: Buckets;
  readonly metrics: readonly Metric[];
  /** Selects `StatsRow`s; `undefined` if the window has no buckets. */
  readonly statement: Sql | undefined;
}

/** Plans a request. Errors: validation, if the window ends before it starts or the response would be too large. */
export function planStats(project: Project, request: StatsRequest, nowMs: number): StatsPlan {
  const rows = rowsOf(project, request, nowMs);
  const { window, timezone, buckets } = bucketsOf(request, nowMs);
  const metrics = planMetrics(request.metrics);
  rejectLargeResponse(buckets, metrics);
  const statement =
    buckets.startsUs.length === 0 ? undefined : printStatement(rows, buckets.startsUs, metrics);
  return { window, timezone, buckets, metrics, statement };
}

const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** Bytes of the longest number, with separators and quotes. */
const BYTES_PER_VALUE = 28;
/** Bytes of a timestamp and a count. */
const BYTES_PER_BUCKET = 60;

function rejectLargeResponse(buckets: Buckets, metrics: readonly Metric[]): void {
  let bytes = BYTES_PER_BUCKET;
  for (const metric of metrics) {
    for (const name of outputNames(metric)) bytes += outputKey(name, metric.slug).length + BYTES_PER_VALUE;
  }
  const count = buckets.startsUs.length;
  if (bytes * count <= MAX_RESPONSE_BYTES) return;
  const msg = `The response would be too large: ${count} buckets of about ${bytes} bytes. Request fewer numbers or a larger granularity`;
  throw invalid([{ loc: ["body", "metrics"], msg, type: "too_long" }]);
}
