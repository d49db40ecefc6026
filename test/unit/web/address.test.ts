import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { handedKey, printAddress, readAddress, VIEW_NAMES } from "../../../web/state/url-state.ts";
import { readQuery } from "../../../web/state/query.ts";
import { durationMs, printSearch, readSearch } from "../../../web/state/search.ts";
import { comparedWith, printWindow, readWindow } from "../../../web/state/time-range.ts";

const words = fc.string({ minLength: 1, unit: "grapheme" });

describe("an address", () => {
  it("round-trips, with any content", () => {
    const addresses = fc.record({
      project: fc
        .tuple(words, words)
        .map(([entity, name]) => `${entity.replaceAll("/", "-")}/${name.replaceAll("/", "-")}`),
      view: fc.constantFrom(...(Object.keys(VIEW_NAMES) as (keyof typeof VIEW_NAMES)[])),
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

  it("leads to the overview if invalid, and to the traces for an unknown view", () => {
    for (const hash of ["", "#", "#/", "#/acme", "#/acme/demo"])
      expect(readAddress(hash).view).toBe("overview");
    for (const hash of ["#/acme/demo/nowhere", "#/acme/demo/trace", "#/acme/demo/%E0%A4%A"])
      expect(readAddress(hash).view).toBe("traces");
  });

  it("contains a key, and the view to show then", () => {
    expect(handedKey("#key=st_a_b&to=%2Facme%2Fdemo%2Ftraces%3Fsort%3Dcost")).toEqual({
      key: "st_a_b",
      hash: "#/acme/demo/traces?sort=cost",
    });
    expect(handedKey("#key=st_a_b")).toEqual({ key: "st_a_b", hash: "#/" });
    expect(handedKey("#/acme/demo?key=st_a_b")).toBeUndefined();
  });
});

const UTC = { now: Date.parse("2026-11-22T00:00:00Z"), zone: "UTC" };

describe("a window", () => {
  it("is a period until now, or two instants; default: seven days", () => {
    const { now } = UTC;
    expect(readWindow("1h", UTC)).toEqual({ fromMs: now - 3_600_000, toMs: undefined });
    const own = { fromMs: now - 5000, toMs: now };
    expect(readWindow(printWindow(own), UTC)).toEqual(own);
    for (const text of [undefined, ""])
      expect(readWindow(text, UTC)).toEqual({ fromMs: now - 7 * 86_400_000, toMs: undefined });
    for (const text of ["toString", "8d", "1..2..3", "x..y", printWindow({ fromMs: now, toMs: now })])
      expect(readWindow(text, UTC)).toBeUndefined();
  });

  it("is aligned to days, weeks and months of the shown zone, of any length", () => {
    // the clock went back in Berlin on Sunday, 25 October 2026
    const berlin = { now: Date.parse("2026-10-26T09:00:00Z"), zone: "Europe/Berlin" };
    const iso = (name: string, looking = berlin) => {
      const { fromMs, toMs } = readWindow(name, looking)!;
      return [fromMs, toMs].map((ms) => (ms === undefined ? null : new Date(ms).toISOString().slice(0, 16)));
    };
    expect(iso("today")).toEqual(["2026-10-25T23:00", null]);
    expect(iso("yesterday")).toEqual(["2026-10-24T22:00", "2026-10-25T23:00"]);
    expect(iso("this-week")).toEqual(["2026-10-25T23:00", null]);
    expect(iso("last-week")).toEqual(["2026-10-18T22:00", "2026-10-25T23:00"]);
    expect(iso("this-month")).toEqual(["2026-09-30T22:00", null]);
    expect(iso("last-month")).toEqual(["2026-08-31T22:00", "2026-09-30T22:00"]);
    // there was no midnight in Cairo on 24 April 2026
    const cairo = { now: Date.parse("2026-04-24T10:00:00Z"), zone: "Africa/Cairo" };
    expect(iso("today", cairo)).toEqual(["2026-04-23T22:00", null]);
  });

  it("is compared with the elapsed part of the previous period", () => {
    const berlin = { now: Date.parse("2026-11-24T09:30:00Z"), zone: "Europe/Berlin" };
    const compared = (range: string, compare = "") => {
      const found = comparedWith(readWindow(range, berlin)!, { range, compare }, berlin);
      return found && [found.fromMs, found.toMs].map((ms) => new Date(ms).toISOString().slice(0, 16));
    };
    expect(compared("today")).toEqual(["2026-11-22T23:00", "2026-11-23T09:30"]);
    expect(compared("this-week")).toEqual(["2026-11-15T23:00", "2026-11-17T09:30"]);
    expect(compared("last-week")).toEqual(["2026-11-08T23:00", "2026-11-15T23:00"]);
    expect(compared("this-month")).toEqual(["2026-09-30T22:00", "2026-10-24T08:30"]);
    expect(compared("1h")).toEqual(["2026-11-24T07:30", "2026-11-24T08:30"]);
    expect(compared("yesterday", "week")).toEqual(["2026-11-15T23:00", "2026-11-16T23:00"]);
    expect(compared("today", "none")).toBeUndefined();
    expect(compared("today", "2026-11-01T00:00Z..2026-11-02T00:00Z")).toEqual([
      "2026-11-01T00:00",
      "2026-11-02T00:00",
    ]);
  });
});

describe("a search", () => {
  it("round-trips", () => {
    const conditions = fc.record({
      field: fc.constantFrom("user", "model", "op", "thread", "attributes.tenant", "inputs.a"),
      op: fc.constant(":" as const),
      value: fc.option(words, { nil: null }),
      isNot: fc.boolean(),
    });
    const searches = fc.record({
      words: fc.array(words.filter((word) => word.trim() !== "")),
      conditions: fc.array(conditions),
    });
    fc.assert(
      fc.property(searches, (search) => {
        expect(readSearch(printSearch(search))).toEqual({ search, faults: [] });
      }),
    );
  });

  it("combines words and conditions", () => {
    expect(readSearch('parcel status:failed -user:"ana b" latency>=11s').search).toEqual({
      words: ["parcel"],
      conditions: [
        { field: "status", op: ":", value: "failed", isNot: false },
        { field: "user", op: ":", value: "ana b", isNot: true },
        { field: "latency", op: ">=", value: "11s", isNot: false },
      ],
    });
    expect(durationMs("11s")).toBe(11_000);
  });

  it.each([
    "usr:ana",
    "inputs.",
    "inputs:x",
    "latency>fast",
    "status:broken",
    "user>ana",
    "user:",
    "latency>1k",
    "latency>none",
    "cost:5",
    "cost>none",
    "cost>-1",
    "cost>1e3",
    "calls>1.5",
    "-tokens>5",
    "root.cost>5",
  ])("rejects %j with a remedy", (text) => {
    const { faults } = readSearch(text.endsWith(".") ? `${text}:x` : text);
    expect(faults).toHaveLength(1);
    expect(faults[0]!.msg.length).toBeGreaterThan(10);
  });

  it.each(["cost>0.1", "calls>=10", "tokens<1000", "failed>0", "wasted<=2"])(
    "takes %j, and refuses it of calls",
    (text) => {
      expect(readQuery(text, "traces")).toMatchObject({ operand: undefined, faults: [] });
      expect(readQuery(`parcel ${text}`, "calls").faults).toMatchObject([{ part: text }]);
    },
  );
});
