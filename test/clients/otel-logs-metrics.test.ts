import { ROOT_CONTEXT, trace, ValueType } from "@opentelemetry/api";
import { OTLPLogExporter as JsonLogs } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPLogExporter as ProtoLogs } from "@opentelemetry/exporter-logs-otlp-proto";
import { OTLPMetricExporter as JsonMetrics } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPMetricExporter as ProtoMetrics } from "@opentelemetry/exporter-metrics-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchLogRecordProcessor, LoggerProvider, type LogRecordExporter } from "@opentelemetry/sdk-logs";
import {
  AggregationTemporality,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from "@opentelemetry/sdk-metrics";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { jsonDecoder } from "../../src/ingest/otlp/decode-json.ts";
import { decodeLogRecord } from "../../src/ingest/otlp/decode-log-record.ts";
import { decodeMetric } from "../../src/ingest/otlp/decode-metric.ts";
import { itemsOfProtobuf } from "../../src/ingest/otlp/decode-protobuf.ts";
import type { SentItem } from "../../src/ingest/otlp/encoded.ts";
import { LOGS, METRICS, type SignalNames } from "../../src/ingest/otlp/signal-names.ts";
import { parseJson } from "../../src/shared/json.ts";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

interface Exported {
  readonly type: string;
  readonly body: Buffer;
  readonly status: number;
  readonly answer: string;
}

let test: TestApp;
let url = "";
let exported: Exported[] = [];

/** Stands before the service, and keeps what passes. */
const relay = createServer((request, response) => {
  void (async () => {
    const payload = await buffer(request);
    const { host: _, ...headers } = request.headers;
    const answer = await test.app.inject({ method: "POST", url: request.url ?? "", headers, payload });
    exported.push({
      type: headers["content-type"] ?? "",
      body: headers["content-encoding"] === "gzip" ? gunzipSync(payload) : payload,
      status: answer.statusCode,
      answer: answer.payload,
    });
    response
      .writeHead(answer.statusCode, { "content-type": String(answer.headers["content-type"]) })
      .end(answer.rawPayload);
  })();
});

beforeAll(async () => {
  test = await startApp();
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}/otel/v1`;
});
afterAll(async () => {
  relay.closeAllConnections();
  relay.close();
  await test.close();
});
beforeEach(() => (exported = []));

const resource = resourceFromAttributes({ "sumtree.project": "acme/exporters", "team.id": "pay" });
const settings = (signal: string, more: object) =>
  ({ url: `${url}/${signal}`, headers: { Authorization: authorization() }, ...more }) as never;

/** Response of the service, and what it read of the request. */
function read<Item>(
  names: SignalNames,
  decode: (item: SentItem) => Item,
): { answers: unknown; items: Item[] } {
  const items = exported.flatMap(({ type, body }) =>
    type === "application/json"
      ? jsonDecoder(names)(parseJson(body.toString()))
      : itemsOfProtobuf(body, names),
  );
  return { answers: exported.map(({ status, answer }) => [status, answer]), items: items.map(decode) };
}

const originOf = ({ origin: { resource: sent, scopeName, scopeVersion } }: SentItem) => [
  sent.get("team.id"),
  scopeName,
  scopeVersion,
];

it.each<[string, () => LogRecordExporter, string]>([
  ["protobuf", () => new ProtoLogs(settings("logs", {})), ""],
  ["protobuf with gzip", () => new ProtoLogs(settings("logs", { compression: "gzip" })), ""],
  ["JSON", () => new JsonLogs(settings("logs", {})), "{}"],
  ["JSON with gzip", () => new JsonLogs(settings("logs", { compression: "gzip" })), "{}"],
])("log records of the exporter are read as they were emitted: %s", async (_, exporter, answer) => {
  const processors = [new BatchLogRecordProcessor({ exporter: exporter() })];
  const provider = new LoggerProvider({ resource, processors });
  const [traceId, spanId] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
  const logger = provider.getLogger("an.agent", "1.2.3");
  logger.emit({
    timestamp: [1_767_225_600, 123_456_789],
    observedTimestamp: [1_767_225_601, 5],
    eventName: "api_request",
    severityText: "INFO",
    body: { model: "m", counts: [1, 2.5, true] },
    attributes: { input_tokens: 600, cost_usd: 0.25, "session.id": "s", tags: ["a", "b"] },
    context: trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: 1 }),
  });
  logger.emit({ timestamp: [1_767_225_600, 0], observedTimestamp: [1_767_225_600, 0], attributes: { n: 0 } });
  await provider.shutdown();
  const { answers, items } = read(LOGS, (item) => [originOf(item), decodeLogRecord(item.encoded)]);
  expect(answers).toEqual([[200, answer]]);
  expect(items).toEqual([
    [
      ["pay", "an.agent", "1.2.3"],
      {
        atNanos: 1_767_225_600_123_456_789n,
        observedAtNanos: 1_767_225_601_000_000_005n,
        eventName: "api_request",
        body: { model: "m", counts: [1, 2.5, true] },
        attributes: new Map<string, unknown>([
          ["input_tokens", 600],
          ["cost_usd", 0.25],
          ["session.id", "s"],
          ["tags", ["a", "b"]],
        ]),
        traceId,
        spanId,
      },
    ],
    [
      ["pay", "an.agent", "1.2.3"],
      {
        atNanos: 1_767_225_600_000_000_000n,
        observedAtNanos: 1_767_225_600_000_000_000n,
        eventName: "",
        body: null,
        attributes: new Map([["n", 0]]),
        traceId: "",
        spanId: "",
      },
    ],
  ]);
});

it.each<[string, (more: object) => PushMetricExporter, string]>([
  ["protobuf", (more) => new ProtoMetrics(settings("metrics", more)), ""],
  ["JSON with gzip", (more) => new JsonMetrics(settings("metrics", { compression: "gzip", ...more })), "{}"],
])("data points of the exporter are read as they were counted: %s", async (_, exporter, answer) => {
  for (const [kind, temporalityPreference] of [
    ["delta", AggregationTemporality.DELTA],
    ["cumulative", AggregationTemporality.CUMULATIVE],
  ] as const) {
    exported = [];
    const reader = new PeriodicExportingMetricReader({ exporter: exporter({ temporalityPreference }) });
    const provider = new MeterProvider({ resource, readers: [reader] });
    const meter = provider.getMeter("an.agent", "1.2.3");
    const tokens = meter.createCounter("tokens", { valueType: ValueType.INT });
    const cost = meter.createCounter("cost");
    tokens.add(600, { type: "input" });
    tokens.add(150, { type: "output" });
    cost.add(0.25);
    meter.createGauge("memory").record(7);
    meter.createHistogram("latency").record(7);
    await provider.forceFlush();
    cost.add(0.5);
    await provider.shutdown();
    const { answers, items } = read(
      METRICS,
      (item) => [originOf(item), [...decodeMetric(item.encoded)]] as const,
    );
    expect(answers).toEqual([
      [200, answer],
      [200, answer],
    ]);
    expect(new Set(items.map(([origin]) => String(origin)))).toEqual(new Set(["pay,an.agent,1.2.3"]));
    const points = items.flatMap(([, decoded]) => decoded);
    const taken = points.flatMap((point) => (typeof point === "object" ? [point] : []));
    expect(points.filter((point) => typeof point === "string")).toEqual([]);
    expect(points.length - taken.length).toBeGreaterThanOrEqual(2);
    for (const { startedAtNanos, atNanos } of taken) {
      expect(startedAtNanos).toBeGreaterThan(1_767_225_600_000_000_000n);
      expect(atNanos).toBeGreaterThanOrEqual(startedAtNanos);
    }
    const counted = taken.map(({ metric, kind: of, value, attributes }) => [
      metric,
      of,
      value,
      attributes.get("type"),
    ]);
    expect(counted.slice(0, 3)).toEqual([
      ["tokens", kind, 600, "input"],
      ["tokens", kind, 150, "output"],
      ["cost", kind, 0.25, undefined],
    ]);
    expect(counted.at(-1)).toEqual(["cost", kind, kind === "delta" ? 0.5 : 0.75, undefined]);
  }
});
