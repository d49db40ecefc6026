import fc from "fast-check";
import { expect, it } from "vitest";
import { parseJsonText } from "../../../../src/shared/escaped-keys.ts";
import { readModelRequest } from "../../../../src/gateway/recording/model-request.ts";

const ask = (text: string): string | undefined =>
  readModelRequest(Buffer.from(text)).withIncludeUsage?.toString();

it.each([
  "true",
  "null",
  "{}",
  '"yes"',
  '{"a":1}',
  '{"include_usage":false}',
  '{"include_usage":null}',
  '{"include_usage":true}',
])("stream_options of %s pass, however they are spelled and wherever they stand", (value) => {
  for (const key of ["stream_options", String.raw`stream\u005foptions`]) {
    expect(ask(`{"stream":true,"${key}":${value}}`)).toBeUndefined();
    expect(ask(`{"${key}":{},"${key}":${value},"stream":true}`)).toBeUndefined();
  }
});

it("a body that is no stream passes", () => {
  for (const text of ["{}", '{"stream":false}', '{"messages":[{"stream":true}]}', "[]", "{"])
    expect(ask(text)).toBeUndefined();
});

it("usage is asked for behind the first brace, and every other byte stays", () => {
  const space = fc.constantFrom("", " ", "\n\t", "\r\n");
  const odd = fc.constantFrom(
    '"seed":9223372036854775807',
    '"temperature":1.0',
    '"__proto__":{"x":1}',
    String.raw`"a\u0062":"\ud83c"`,
    String.raw`"messages":[{"stream_options":{},"c":"\"stream_options\":{"}]`,
  );
  const members = fc.tuple(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 }), fc.array(odd));
  fc.assert(
    fc.property(space, space, members, (before, behind, [rest, more]) => {
      fc.pre(!Object.hasOwn(rest, "stream_options"));
      const text = [JSON.stringify(rest).slice(1, -1), ...more, '"stream":true']
        .filter((one) => one !== "")
        .join();
      const edited = ask(`${before}{${behind}${text}}`);
      expect(edited).toBe(`${before}{"stream_options":{"include_usage":true},${behind}${text}}`);
      expect(parseJsonText(edited!)).toMatchObject({ stream_options: { include_usage: true } });
    }),
  );
});
