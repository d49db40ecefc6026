import type { CallsFold } from "./calls-fold.ts";
import type { CallsStatsPlan } from "./plan.ts";

/** The answer's text, piece by piece: every bucket, and in every bucket every model of the window. */
export function* printCallsStats(fold: CallsFold, plan: CallsStatsPlan): Generator<string> {
  const { startsMs, sizeSeconds } = plan.buckets;
  const iso = (ms: number): string => new Date(ms).toISOString();
  yield (
    `{"start":"${iso(plan.window.startMs)}","end":"${iso(plan.window.endMs)}","granularity":${sizeSeconds}` +
      `,"timezone":${JSON.stringify(plan.timezone)},"usage_buckets":[`
  );
  const models = [...fold.models.entries()].sort(([, a], [, b]) => (a < b ? -1 : 1));
  let isFirst = true;
  if (plan.usageMetrics.length > 0) {
    for (const [bucket, startMs] of startsMs.entries()) {
      for (const [number, model] of models) {
        const row = number * startsMs.length + bucket;
        const head = `{"timestamp":"${iso(startMs)}","model":${JSON.stringify(model)}`;
        const values = fold.usage.map((metric) => metric.text(row)).join("");
        yield `${isFirst ? "" : ","}${head}${values},"count":${fold.usageCounts[row] ?? 0}}`;
        isFirst = false;
      }
    }
  }
  yield '],"call_buckets":[';
  if (plan.callMetrics.length > 0) {
    for (const [bucket, startMs] of startsMs.entries()) {
      const values = fold.calls.map((metric) => metric.text(bucket)).join("");
      yield `${bucket === 0 ? "" : ","}{"timestamp":"${iso(startMs)}"${values},"count":${fold.callCounts[bucket] ?? 0}}`;
    }
  }
  yield "]}";
}
