import { describe, expect, it } from "vitest";
import { parseJson, stringifyJson } from "../../../src/shared/json.ts";

describe("stringifyJson", () => {
  it("writes a double beyond 64 bits with an exponent, which ClickHouse reads, and smaller numbers unchanged", () => {
    const text =
      '{"a":100000000000000000000,"b":-1e19,"c":[1e20],"d":18446744073709551615,"e":12345678901234567}';
    expect(stringifyJson(parseJson(text))).toBe(
      '{"a":1e+20,"b":-1e+19,"c":[1e+20],"d":18446744073709551615,"e":12345678901234567}',
    );
  });

  it("keeps long digits in strings", () => {
    expect(stringifyJson({ a: "123456789012345678901234567890" })).toBe(
      '{"a":"123456789012345678901234567890"}',
    );
  });

  it("writes control characters, line separators and lone surrogates as ClickHouse does", () => {
    const text = "\u000b\u001f\u0007\n\u2028\u2029\ud83d \\u000b é😀";
    expect(stringifyJson(text)).toBe(
      String.raw`"\u000B\u001F\u0007\n\u2028\u2029` + "\ufffd" + String.raw` \\u000b é😀"`,
    );
    expect(JSON.parse(stringifyJson(text))).toBe(text.toWellFormed());
  });
});
