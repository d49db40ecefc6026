import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvLines, csvText } from "../../../src/http/csv.ts";

describe("CSV", () => {
  it("distinguishes empty text and null", () => {
    expect(csvLines([["", null, "a", 0]])).toBe('"",,a,0\r\n');
  });

  it("round-trips any text", () => {
    const field = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("", '"', "\r\n", ",", "\ufeff", "'"),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(field, field), { minLength: 1 }), (rows) => {
        expect(parse(csvLines([["one", "other"], ...rows])).slice(1)).toEqual(rows);
      }),
    );
  });

  it.each([
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "\ufeff=1",
    "\u202e=1",
    "\0=1",
    "\uff1d1",
    "\t",
  ])("prevents that a spreadsheet evaluates %j", (text) => expect(csvText(text)).toBe(`'${text}`));

  it.each(["", "a=1", "'=1", "1-2", "gpt-4o", "\u202eabc", " a"])("keeps %j", (text) =>
    expect(csvText(text)).toBe(text),
  );
});
