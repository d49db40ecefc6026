import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { spansOfJson } from "../../../../src/ingest/otlp/decode-json.ts";
import { spansOfProtobuf } from "../../../../src/ingest/otlp/decode-protobuf.ts";
import {
  ExportTraceServiceRequestSchema,
  SpanSchema,
  type AnyValue,
  type KeyValue,
} from "../../../../src/ingest/otlp/otlp_pb.ts";
import type { SentSpan } from "../../../../src/ingest/otlp/span.ts";
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

function partOf(sent: SentSpan | undefined): unknown {
  const decoded = sent!.decode();
  return typeof decoded === "string" ? decoded : toCallEvent(decoded, sent!.origin, "a-key");
}

describe("OTLP as JSON and protobuf", () => {
  it("decodes to the same spans", () => {
    fc.assert(
      fc.property(span, attributes(value), ({ binary, json }, resource) => {
        const message = create(ExportTraceServiceRequestSchema, {
          resourceSpans: [
            {
              resource: { attributes: resource.binary },
              scopeSpans: [
                { scope: { name: "s" }, spans: [toBinary(SpanSchema, create(SpanSchema, binary))] },
              ],
            },
          ],
        });
        const text = JSON.stringify({
          resourceSpans: [
            {
              resource: { attributes: resource.json },
              scopeSpans: [{ scope: { name: "s" }, spans: [json] }],
            },
          ],
        });
        const [fromBytes] = spansOfProtobuf(toBinary(ExportTraceServiceRequestSchema, message));
        const [fromText] = spansOfJson(parseJson(text));
        expect(partOf(fromText)).toEqual(partOf(fromBytes));
      }),
      { numRuns: runs(200, 5000) },
    );
  });
});
