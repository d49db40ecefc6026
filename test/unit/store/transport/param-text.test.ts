import { describe, expect, it } from "vitest";
import { paramText } from "../../../../src/store/transport/param-text.ts";

describe("paramText", () => {
  it("escapes like a field of TabSeparated", () => {
    expect(paramText("String", "a\tb\n'c'\\N\0")).toBe(String.raw`a\tb\n\'c\'\\N\0`);
    expect(paramText("Nullable(String)", null)).toBe(String.raw`\N`);
  });
  it("quotes the strings of an array, and its numbers not, even as text", () => {
    expect(paramText("Array(String)", ["it's", "", "1"])).toBe(String.raw`['it\'s','','1']`);
    expect(paramText("Array(Int64)", ["-9223372036854775808", "1"])).toBe("[-9223372036854775808,1]");
    expect(paramText("Array(Float64)", [])).toBe("[]");
  });
});
