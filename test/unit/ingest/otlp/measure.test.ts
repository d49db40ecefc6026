import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { countItems } from "../../../../src/ingest/otlp/measure.ts";
import { AnyValueSchema, ExportRequestSchema, SpanSchema } from "../../../../src/ingest/otlp/otlp_pb.ts";

describe("countItems", () => {
  it("counts messages and list items at every level", () => {
    const bytes = toBinary(
      SpanSchema,
      create(SpanSchema, {
        name: "a span",
        attributes: [
          { key: "a", value: { value: { case: "stringValue", value: "x" } } },
          { key: "b", value: { value: { case: "arrayValue", value: { values: [{}, {}] } } } },
        ],
        status: { code: 1 },
      }),
    );
    // two attributes, two values, a list and its two items, a status
    expect(countItems(SpanSchema, bytes, 1000)).toBe(8);
    expect(countItems(SpanSchema, bytes, 3)).toBe(3);
  });

  it("counts encoded spans as items of a request", () => {
    const request = create(ExportRequestSchema, {
      resources: [{ scopes: [{ items: [new Uint8Array(3), new Uint8Array(3)] }] }],
    });
    expect(countItems(ExportRequestSchema, toBinary(ExportRequestSchema, request), 99)).toBe(4);
  });

  it.each([
    ["an item longer than what holds it", [0x0a, 0x05, 0x0a, 0x09, 0x00, 0x00, 0x00]],
    ["a cut length", [0x0a, 0xff]],
    ["an unknown kind of field", [0x0f]],
  ])("rejects %s", (_, bytes) => {
    expect(() => countItems(ExportRequestSchema, Uint8Array.from(bytes), 99)).toThrow();
  });

  it("rejects values that are nested too deep", () => {
    let value = create(AnyValueSchema);
    for (let level = 0; level < 60; level++) {
      value = create(AnyValueSchema, { value: { case: "arrayValue", value: { values: [value] } } });
    }
    const bytes = toBinary(AnyValueSchema, value);
    expect(() => countItems(AnyValueSchema, bytes, 1000)).toThrow("nested too deep");
  });
});
