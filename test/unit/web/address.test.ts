import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { handedKey, printAddress, readAddress, VIEWS } from "../../../web/state/address.ts";
import { printWindow, readWindow } from "../../../web/state/time-window.ts";
import { operandOf, printFilter, readFilter, CHIP_OPS, typedValue } from "../../../web/state/filters.ts";

const words = fc.string({ minLength: 1, unit: "grapheme" });

describe("an address", () => {
  it("is read as it was printed, whatever stands in it", () => {
    const addresses = fc.record({
      project: fc
        .tuple(words, words)
        .map(([entity, name]) => `${entity.replaceAll("/", "-")}/${name.replaceAll("/", "-")}`),
      view: fc.constantFrom(...VIEWS.filter((view) => view !== "trace")),
      traceId: fc.constant(undefined),
      options: fc.dictionary(words, words),
    });
    fc.assert(
      fc.property(addresses, (address) => {
        const read = readAddress(printAddress(address));
        expect({ ...read, options: Object.entries(read.options) }).toEqual({
          ...address,
          options: Object.entries(address.options),
        });
      }),
    );
  });

  it("names a trace, with any id", () => {
    for (const traceId of ["a/b", "?x=1&y", "#", "%2F", "⟨ü⟩"]) {
      const address = { project: "acme/demo", view: "trace", traceId, options: { call: "a b" } } as const;
      expect(readAddress(printAddress(address))).toEqual(address);
    }
  });

  it("that nobody printed leads to the traces", () => {
    for (const hash of ["", "#", "#/", "#/acme", "#/acme/demo/nowhere", "#/acme/demo/trace", "#/%E0%A4%A"])
      expect(readAddress(hash).view).toBe("traces");
  });

  it("hands over a key, and says where to go then", () => {
    expect(handedKey("#key=st_a_b&to=%2Facme%2Fdemo%2Ftraces%3Fsort%3Dcost")).toEqual({
      key: "st_a_b",
      hash: "#/acme/demo/traces?sort=cost",
    });
    expect(handedKey("#key=st_a_b")).toEqual({ key: "st_a_b", hash: "#/" });
    expect(handedKey("#/acme/demo?key=st_a_b")).toBeUndefined();
  });
});

describe("a window", () => {
  it("is the last so long, or two instants, and otherwise seven days", () => {
    const now = Date.parse("2026-11-22T00:00:00Z");
    expect(readWindow("1h", now)).toEqual({ fromMs: now - 3_600_000, toMs: undefined });
    const own = { fromMs: now - 5000, toMs: now };
    expect(readWindow(printWindow(own), now)).toEqual(own);
    for (const text of [
      undefined,
      "",
      "toString",
      "1..2..3",
      "x..y",
      printWindow({ fromMs: now, toMs: now }),
    ])
      expect(readWindow(text, now)).toEqual({ fromMs: now - 7 * 86_400_000, toMs: undefined });
  });
});

describe("filters", () => {
  it("stand in the address as the query that they make, and come back as chips", () => {
    const chips = fc.array(
      fc.record({
        field: words,
        op: fc.constantFrom(...CHIP_OPS),
        value: fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null)),
      }),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(chips, (chips) => {
        const filter = { kind: "chips", chips } as const;
        expect(readFilter(printFilter(filter))).toEqual(filter);
      }),
    );
  });

  it("keep a query that no chip can show", () => {
    const operand = { $or: [{ $eq: [{ $getField: "op_name" }, { $literal: "a" }] }] };
    const filter = readFilter(JSON.stringify(operand));
    expect([filter.kind, operandOf(filter), printFilter(filter)]).toEqual([
      "custom",
      operand,
      JSON.stringify(operand),
    ]);
    expect(readFilter("{nonsense")).toEqual({ kind: "unreadable", text: "{nonsense" });
  });

  it("take a number beside a payload for a number, and a name for a text", () => {
    expect(typedValue("summary.weave.latency_ms", "5000")).toBe(5000);
    expect(typedValue("attributes.retry", "false")).toBe(false);
    expect(typedValue("op_name", "5000")).toBe("5000");
    expect(typedValue("exception", "null")).toBeNull();
    expect(typedValue("inputs.x", " ")).toBe(" ");
  });
});
