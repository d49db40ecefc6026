import { describe, expect, it } from "vitest";
import { csv } from "../../../web/format/csv.ts";
import { visible } from "../../../web/format/plain-text.ts";

describe("text of a call", () => {
  it("shows control and direction characters", () => {
    expect(visible("a\u202Egnp.exe\u0007\u200B")).toBe("a⟨U+202E⟩gnp.exe⟨U+0007⟩⟨U+200B⟩");
    expect(visible("line\r\nnext\ttab")).toBe("line\nnext\ttab");
    expect(visible("مرحبا ü 👍")).toBe("مرحبا ü 👍");
  });
});

it("a CSV file has every digit, and nothing that a spreadsheet evaluates", () => {
  expect(
    csv([
      ["a,b", 'say "x"', null, 1.5e-7],
      ["=1+1", "-x", -3, "line\nend"],
    ]),
  ).toBe('"a,b","say ""x""",,0.00000015\r\n\'=1+1,\'-x,-3,"line\nend"\r\n');
});
