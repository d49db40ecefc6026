import { expect, it } from "vitest";
import { jsonDecoder } from "../../../../src/ingest/otlp/decode-json.ts";
import { decodeMetric } from "../../../../src/ingest/otlp/decode-metric.ts";
import { METRICS } from "../../../../src/ingest/otlp/signal-names.ts";
import { parseJson } from "../../../../src/shared/json.ts";

const metricsOfJson = jsonDecoder(METRICS);

/** Reads a metric in JSON: the value of each data point, the reason why it is rejected, or undefined. */
function read(metric: string): unknown[] {
  const request = `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[${metric}]}]}]}`;
  return metricsOfJson(parseJson(request)).flatMap(({ encoded }) =>
    [...decodeMetric(encoded)].map((point) => (typeof point === "object" ? point.value : point)),
  );
}
const sum = (...points: string[]) =>
  `{"name":"m","sum":{"aggregationTemporality":2,"dataPoints":[${points.join()}]}}`;
const deep = `{"arrayValue":{"values":[`.repeat(300) + "]}}".repeat(300);

const BAD_POINT = "a number data point cannot be decoded";
const BAD_METRIC = "a metric cannot be decoded";

it.each<[string, string, unknown[]]>([
  [
    "integers as text and as numbers",
    sum('{"asInt":"600"}', '{"asInt":600}', '{"asInt":-1}'),
    [600, 600, -1],
  ],
  [
    "integers beyond 53 bits",
    sum('{"asInt":9007199254740993}', '{"asInt":"9007199254740993"}'),
    [2 ** 53, 2 ** 53],
  ],
  ["whole numbers beyond 64 bits", sum('{"asInt":1e20}'), [1e20]],
  ["values that are no numbers", sum('{"asDouble":"NaN"}', '{"asDouble":"-Infinity"}'), [NaN, -Infinity]],
  ["points without a value", sum("{}", '{"flags":1}'), [undefined, undefined]],
  [
    "malformed points alone",
    sum('{"asInt":1}', '"x"', "null", '{"asInt":{}}', '{"asInt":2}'),
    [1, BAD_POINT, BAD_POINT, BAD_POINT, 2],
  ],
  [
    "a point that is nested too deep alone",
    sum('{"asInt":1}', `{"asInt":1,"attributes":[{"key":"a","value":${deep}}]}`),
    [1, BAD_POINT],
  ],
  ["unknown members", sum('{"asInt":1,"exemplars":[{"asDouble":2}],"later":{"dataPoints":7}}'), [1]],
  ["gauges", '{"name":"m","gauge":{"dataPoints":[{"asInt":1},{}]}}', [undefined, undefined]],
  [
    "histograms",
    '{"name":"m","histogram":{"aggregationTemporality":1,"dataPoints":[{"count":"2","bucketCounts":["1","1"]}]}}',
    [undefined],
  ],
  ["exponential histograms", '{"name":"m","exponentialHistogram":{"dataPoints":[{"scale":3}]}}', [undefined]],
  ["summaries", '{"name":"m","summary":{"dataPoints":[{"count":1}]}}', [undefined]],
  ["a metric without data", '{"name":"m"}', []],
  ["data of no known kind", '{"name":"m","later":{"dataPoints":[{}]}}', []],
  ["null in place of lists", '{"name":"m","sum":{"aggregationTemporality":1,"dataPoints":null}}', []],
  [
    "data points that are no list",
    '{"name":"m","sum":{"aggregationTemporality":1,"dataPoints":7}}',
    [BAD_METRIC],
  ],
  ["data that is no object", '{"name":"m","sum":[]}', [BAD_METRIC]],
  ["a metric that is no object", "7", [BAD_METRIC]],
  [
    "no temporality",
    '{"name":"m","sum":{"dataPoints":[{"asInt":1}]}}',
    ["a sum has no aggregation temporality"],
  ],
])("reads %s", (_, metric, expected) => {
  expect(read(metric)).toEqual(expected);
});
