import { pauses } from "../response/pauses.ts";
import { isoOf } from "../../shared/instant.ts";
import type { CallsFold } from "./calls-fold.ts";
import type { CallsStatsPlan } from "./plan.ts";

/** Prints the response in chunks: every bucket, and in each every model of the window. An empty chunk is a pause. */
export function* printCallsStats(fold: CallsFold, plan: CallsStatsPlan): Generator<string> {
  const { startsUs, sizeSeconds } = plan.buckets;
  for (const metric of [...fold.usage, ...fold.calls]) yield* pauses(metric.sort());
  yield (
    `{"start":"${isoOf(plan.window.startUs)}","end":"${isoOf(plan.window.endUs)}","granularity":${sizeSeconds}` +
      `,"timezone":${JSON.stringify(plan.timezone)},"usage_buckets":[`
  );
  const models = [...fold.models.entries()].sort(([, a], [, b]) => (a < b ? -1 : 1));
  let isFirst = true;
  if (plan.usageMetrics.length > 0) {
    for (const [bucket, startUs] of startsUs.entries()) {
      for (const [number, model] of models) {
        const row = number * startsUs.length + bucket;
        const head = `{"timestamp":"${isoOf(startUs)}","model":${JSON.stringify(model)}`;
        const values = fold.usage.map((metric) => metric.text(row)).join("");
        yield `${isFirst ? "" : ","}${head}${values},"count":${fold.usageCounts[row] ?? 0}}`;
        isFirst = false;
      }
    }
  }
  yield '],"call_buckets":[';
  if (plan.callMetrics.length > 0) {
    for (const [bucket, startUs] of startsUs.entries()) {
      const values = fold.calls.map((metric) => metric.text(bucket)).join("");
      yield `${bucket === 0 ? "" : ","}{"timestamp":"${isoOf(startUs)}"${values},"count":${fold.callCounts[bucket] ?? 0}}`;
    }
  }
  yield "]}";
}
