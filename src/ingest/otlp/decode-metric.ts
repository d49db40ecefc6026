import { readAttributes } from "./attributes.ts";
import type { Encoded } from "./encoded.ts";
import type { OtelMetricPoint } from "./metric-point.ts";
import { MetricSchema, NumberDataPointSchema } from "./otlp_pb.ts";

/** Aggregation temporalities by their numbers. */
const KINDS: ReadonlyMap<number, OtelMetricPoint["kind"]> = new Map([
  [1, "delta"],
  [2, "cumulative"],
]);

/**
 * Decodes the data points of a metric one by one: a point, the reason why it is rejected, or `undefined` if it is not read,
 * because it is not of a sum, or without a value. A metric that cannot be decoded has one reason.
 */
export function* decodeMetric(encoded: Encoded): Generator<OtelMetricPoint | string | undefined> {
  const metric = encoded.decode(MetricSchema);
  if (typeof metric === "string") {
    yield metric;
    return;
  }
  const { name, data } = metric;
  const kind = KINDS.get(data.value?.aggregationTemporality ?? 0);
  for (const point of encoded.pointsOf(metric)) {
    if (data.case !== "sum") yield undefined;
    else yield kind === undefined ? "a sum has no aggregation temporality" : decodePoint(point, name, kind);
  }
}

function decodePoint(
  encoded: Encoded,
  metric: string,
  kind: OtelMetricPoint["kind"],
): OtelMetricPoint | string | undefined {
  const point = encoded.decode(NumberDataPointSchema);
  if (typeof point === "string") return point;
  if (point.value.case === undefined) return undefined;
  return {
    metric,
    kind,
    startedAtNanos: point.startTimeUnixNano,
    atNanos: point.timeUnixNano,
    value: Number(point.value.value),
    attributes: readAttributes(point.attributes),
  };
}
