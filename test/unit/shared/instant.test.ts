import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isoOf, parseInstant, readInstant, toIso, toStoreText } from "../../../src/shared/instant.ts";

const MIN = Date.UTC(1900, 0, 1) * 1000;
const MAX = Date.UTC(2255, 0, 1) * 1000 - 1;
const anyInstant = fc.integer({ min: MIN, max: MAX });
/** Instants of which many share a minute, or are at its edges, before and after 1970. */
const nearby = fc
  .tuple(fc.integer({ min: -3, max: 3 }), fc.constantFrom(-1, 0, 1, 999, 1000, 59_999_999))
  .map(([minute, micros]) => minute * 60_000_000 + micros);

function textOf(micros: number): string {
  const ms = Math.floor(micros / 1000);
  const digits = String(micros - ms * 1000).padStart(3, "0");
  return `${new Date(ms).toISOString().slice(0, 23).replace("T", " ")}${digits}`;
}

describe("an instant in ClickHouse's format", () => {
  it("has every microsecond, for any instants formatted before", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyInstant, nearby)), (instants) => {
        for (const instant of instants) {
          const text = toStoreText(instant);
          expect(text).toBe(textOf(instant));
          expect(parseInstant(toIso(text))).toBe(instant);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("an instant in a response", () => {
  it("round-trips, and has microseconds only if they are not 0", () => {
    fc.assert(
      fc.property(fc.oneof(anyInstant, nearby), (instant) => {
        expect(parseInstant(isoOf(instant))).toBe(instant);
        expect(isoOf(instant)).toMatch(instant % 1000 === 0 ? /\.\d{3}Z$/ : /\.\d{6}Z$/);
      }),
      { numRuns: 300 },
    );
  });

  it("is exact to the millisecond in any year", () => {
    for (const text of ["0000-01-01T00:00:00.001Z", "0999-06-01T00:00:00.999Z", "9999-12-31T23:59:59.999Z"])
      expect(isoOf(readInstant(text)!)).toBe(text);
  });
});
