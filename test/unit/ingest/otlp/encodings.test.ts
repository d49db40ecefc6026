import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonDecoder } from "../../../../src/ingest/otlp/decode-json.ts";
import { itemsOfProtobuf } from "../../../../src/ingest/otlp/decode-protobuf.ts";
import { decodeLogRecord } from "../../../../src/ingest/otlp/decode-log-record.ts";
import { decodeMetric } from "../../../../src/ingest/otlp/decode-metric.ts";
import { decodeSpan } from "../../../../src/ingest/otlp/decode-span.ts";
import type { SentItem } from "../../../../src/ingest/otlp/encoded.ts";
import {
  ExportRequestSchema,
  LogRecordSchema,
  MetricSchema,
  NumberDataPointSchema,
  SpanSchema,
  type AnyValue,
  type KeyValue,
} from "../../../../src/ingest/otlp/otlp_pb.ts";
import { LOGS, METRICS, TRACES } from "../../../../src/ingest/otlp/signal-names.ts";
import { toCallEvent } from "../../../../src/ingest/otlp/to-call-event.ts";
import { parseJson } from "../../../../src/shared/json.ts";
import { runs } from "../../../helpers/runs.ts";

/** One attribute value in both encodings. */
interface Value {
  readonly binary: AnyValue["value"];
  readonly json: unknown;
}

const leaf: fc.Arbitrary<Value> = fc.oneof(
  fc.string({ unit: "binary" }).map((text) => ({
    binary: { case: "stringValue" as const, value: text },
    json: { stringValue: text },
  })),
  fc
    .boolean()
    .map((value) => ({ binary: { case: "boolValue" as const, value }, json: { boolValue: value } })),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => ({
    binary: { case: "intValue" as const, value },
    json: { intValue: String(value) },
  })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => ({
    binary: { case: "doubleValue" as const, value },
    json: { doubleValue: value },
  })),
  fc.uint8Array({ maxLength: 9 }).map((value) => ({
    binary: { case: "bytesValue" as const, value: Uint8Array.from(value) },
    json: { bytesValue: Buffer.from(value).toString("base64") },
  })),
  fc.constant({ binary: { case: undefined }, json: {} }),
);

const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.array(tie("value"), { maxLength: 3 }).map((items) => ({
      binary: { case: "arrayValue" as const, value: { values: items.map((one) => ({ value: one.binary })) } },
      json: { arrayValue: { values: items.map((one) => one.json) } },
    })) as fc.Arbitrary<Value>,
    attributes(tie("value")).map(({ binary, json }) => ({
      binary: { case: "kvlistValue" as const, value: { values: binary } },
      json: { kvlistValue: { values: json } },
    })) as fc.Arbitrary<Value>,
  ),
}));

function attributes(of: fc.Arbitrary<Value>): fc.Arbitrary<{ binary: KeyValue[]; json: object[] }> {
  const key = fc.oneof(
    fc.constantFrom(
      "gen_ai.usage.input_tokens",
      "gen_ai.prompt.0.role",
      "input.value",
      "ai.operationId",
      "session.id",
    ),
    fc.string(),
  );
  return fc.array(fc.tuple(key, of), { maxLength: 4 }).map((entries) => ({
    binary: entries.map(([name, one]) => ({ key: name, value: { value: one.binary } })) as KeyValue[],
    json: entries.map(([name, one]) => ({ key: name, value: one.json })),
  }));
}

const nanos = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const id = (length: number) => fc.uint8Array({ minLength: 0, maxLength: length });
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

const span = fc
  .record({
    traceId: fc.oneof(id(16), fc.uint8Array({ minLength: 16, maxLength: 16 })),
    spanId: fc.oneof(id(8), fc.uint8Array({ minLength: 8, maxLength: 8 })),
    parentSpanId: id(8),
    name: fc.string({ unit: "binary" }),
    kind: fc.integer({ min: 0, max: 7 }),
    startTimeUnixNano: fc.oneof(nanos, fc.constant(1_767_225_600_000_000_000n)),
    endTimeUnixNano: fc.oneof(nanos, fc.constant(1_767_225_601_000_000_000n)),
    attributes: attributes(value),
    event: fc.record({ name: fc.string(), timeUnixNano: nanos, attributes: attributes(value) }),
    status: fc.record({ code: fc.integer({ min: 0, max: 3 }), message: fc.string() }),
  })
  .map(({ attributes: own, event, ...rest }) => ({
    binary: { ...rest, attributes: own.binary, events: [{ ...event, attributes: event.attributes.binary }] },
    json: {
      ...rest,
      traceId: hex(rest.traceId),
      spanId: hex(rest.spanId),
      parentSpanId: hex(rest.parentSpanId),
      startTimeUnixNano: String(rest.startTimeUnixNano),
      endTimeUnixNano: String(rest.endTimeUnixNano),
      attributes: own.json,
      events: [{ ...event, timeUnixNano: String(event.timeUnixNano), attributes: event.attributes.json }],
    },
  }));

const logRecord = fc
  .record({
    timeUnixNano: nanos,
    observedTimeUnixNano: nanos,
    traceId: id(16),
    spanId: id(8),
    eventName: fc.string({ unit: "binary" }),
    body: fc.option(value, { nil: undefined }),
    attributes: attributes(value),
  })
  .map(({ body, attributes: own, ...rest }) => ({
    binary: { ...rest, attributes: own.binary, ...(body && { body: { value: body.binary } }) },
    json: {
      ...rest,
      timeUnixNano: String(rest.timeUnixNano),
      observedTimeUnixNano: String(rest.observedTimeUnixNano),
      traceId: hex(rest.traceId),
      spanId: hex(rest.spanId),
      attributes: own.json,
      ...(body && { body: body.json }),
    },
  }));

/** The value of a data point in both encodings, and as read. */
const pointValue = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => ({
    binary: { case: "asInt" as const, value },
    json: { asInt: String(value) },
    value: Number(value),
  })),
  // JSON.stringify has no negative zero
  fc
    .double()
    .map((value) => value + 0)
    .map((value) => ({
      binary: { case: "asDouble" as const, value },
      // JSON has no other form for these
      json: { asDouble: Number.isFinite(value) ? value : String(value) },
      value,
    })),
  fc.constant({ binary: { case: undefined }, json: {}, value: undefined }),
);

const point = fc
  .record({ startTimeUnixNano: nanos, timeUnixNano: nanos, value: pointValue })
  .map(({ value: of, ...times }) => ({
    binary: { ...times, value: of.binary },
    json: {
      startTimeUnixNano: String(times.startTimeUnixNano),
      timeUnixNano: String(times.timeUnixNano),
      ...of.json,
    },
    value: of.value as unknown,
  }));

function inBytes(resource: { attributes?: KeyValue[] }, item: Uint8Array): Uint8Array {
  const scopes = [{ scope: { name: "s" }, items: [item] }];
  return toBinary(ExportRequestSchema, create(ExportRequestSchema, { resources: [{ resource, scopes }] }));
}

const spansOfJson = jsonDecoder(TRACES);

function partOf(sent: SentItem | undefined): unknown {
  const decoded = decodeSpan(sent!.encoded);
  return typeof decoded === "string" ? decoded : toCallEvent(decoded, sent!.origin, "a-key");
}

describe("OTLP as JSON and protobuf", () => {
  it("decodes to the same spans", () => {
    fc.assert(
      fc.property(span, attributes(value), ({ binary, json }, resource) => {
        const bytes = inBytes(
          { attributes: resource.binary },
          toBinary(SpanSchema, create(SpanSchema, binary)),
        );
        const text = JSON.stringify({
          resourceSpans: [
            {
              resource: { attributes: resource.json },
              scopeSpans: [{ scope: { name: "s" }, spans: [json] }],
            },
          ],
        });
        const [fromBytes] = itemsOfProtobuf(bytes, TRACES);
        const [fromText] = spansOfJson(parseJson(text));
        expect(partOf(fromText)).toEqual(partOf(fromBytes));
      }),
      { numRuns: runs(200, 5000) },
    );
  });

  it("decodes to the same log records", () => {
    const logsOfJson = jsonDecoder(LOGS);
    fc.assert(
      fc.property(logRecord, ({ binary, json }) => {
        const bytes = inBytes({}, toBinary(LogRecordSchema, create(LogRecordSchema, binary)));
        const text = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [json] }] }] });
        const [fromBytes] = itemsOfProtobuf(bytes, LOGS);
        const [fromText] = logsOfJson(parseJson(text));
        const read = decodeLogRecord(fromBytes!.encoded);
        expect(decodeLogRecord(fromText!.encoded)).toEqual(read);
        expect(read).toMatchObject({ atNanos: binary.timeUnixNano, eventName: binary.eventName });
      }),
      { numRuns: runs(100, 5000) },
    );
  });

  it("decodes to the same data points", () => {
    const metricsOfJson = jsonDecoder(METRICS);
    fc.assert(
      fc.property(
        fc.array(point, { maxLength: 4 }),
        fc.integer({ min: 0, max: 3 }),
        (points, temporality) => {
          const dataPoints = points.map(({ binary }) =>
            toBinary(NumberDataPointSchema, create(NumberDataPointSchema, binary)),
          );
          const aggregationTemporality = temporality;
          const metric = create(MetricSchema, {
            name: "m",
            data: { case: "sum", value: { dataPoints, aggregationTemporality } },
          });
          const json = {
            name: "m",
            sum: { aggregationTemporality, dataPoints: points.map((one) => one.json), isMonotonic: true },
          };
          const text = JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics: [json] }] }] });
          const [fromBytes] = itemsOfProtobuf(inBytes({}, toBinary(MetricSchema, metric)), METRICS);
          const [fromText] = metricsOfJson(parseJson(text));
          const read = [...decodeMetric(fromBytes!.encoded)];
          expect([...decodeMetric(fromText!.encoded)]).toEqual(read);
          const isSum = temporality === 1 || temporality === 2;
          expect(read.map((one) => (typeof one === "object" ? one.value : one))).toEqual(
            points.map((one) => (isSum ? one.value : "a sum has no aggregation temporality")),
          );
        },
      ),
      { numRuns: runs(100, 5000) },
    );
  });
});
