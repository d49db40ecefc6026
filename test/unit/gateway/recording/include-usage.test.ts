import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonText } from "../../../../src/shared/escaped-keys.ts";
import { injectIncludeUsage } from "../../../../src/gateway/recording/include-usage.ts";

const ask = (text: string): string | undefined =>
  injectIncludeUsage(Buffer.from(text), JSON.parse(text) as Record<string, unknown>)?.toString();

describe("includeUsage", () => {
  it.each([
    ['{"stream":true}', '{"stream_options":{"include_usage":true},"stream":true}'],
    [' { "stream" : true }', ' {"stream_options":{"include_usage":true}, "stream" : true }'],
    ["{}", '{"stream_options":{"include_usage":true}}'],
    ['{"stream_options":null}', '{"stream_options":{"include_usage":true}}'],
    ['{"stream_options": {} }', '{"stream_options": {"include_usage":true} }'],
    ['{"stream_options":{"a":1}}', '{"stream_options":{"include_usage":true,"a":1}}'],
    ['{"stream_options":{"include_usage": false }}', '{"stream_options":{"include_usage": true }}'],
    ['{"stream_options":{"include_usage":null,"b":[]}}', '{"stream_options":{"include_usage":true,"b":[]}}'],
  ])("edits %s to %s", (from, to) => {
    expect(ask(from)).toBe(to);
  });

  it("keeps a body that requests usage already, or has another value", () => {
    expect(ask('{"stream_options":{"include_usage":true}}')).toBeUndefined();
    expect(ask('{"stream_options":"yes"}')).toBeUndefined();
    expect(ask('{"stream_options":{"include_usage":"no"}}')).toBeUndefined();
  });

  it("keeps 64-bit numbers, 1.0, key order, escapes and unusual keys as sent", () => {
    const body =
      '{"seed":9223372036854775807,"temperature":1.0,"__proto__":{"x":1},"a\\u0062":"\\ud83c","z":1,"a":2}';
    expect(ask(body)).toBe(`{"stream_options":{"include_usage":true},${body.slice(1)}`);
  });

  it("edits the effective member if a key is repeated or contains escapes", () => {
    const twice = '{"stream_options":{"include_usage":true},"stream_options":{"include_usage":false}}';
    expect(ask(twice)).toBe(
      '{"stream_options":{"include_usage":true},"stream_options":{"include_usage":true}}',
    );
    expect(ask('{"stream\\u005foptions":{}}')).toBe('{"stream\\u005foptions":{"include_usage":true}}');
  });

  it("ignores similar text in strings and nested objects", () => {
    const body = '{"messages":[{"stream_options":{},"c":"\\"stream_options\\":{"}],"stream":true}';
    expect(ask(body)).toBe(`{"stream_options":{"include_usage":true},${body.slice(1)}`);
  });

  it("changes nothing in the body but include_usage", () => {
    const options = fc.oneof(
      fc.constant(undefined),
      fc.constant(null),
      fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
      fc.record({ include_usage: fc.constantFrom(false, null), other: fc.jsonValue() }),
    );
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 }),
        options,
        fc.constantFrom(undefined, 1, "\t"),
        (rest, streamOptions, indent) => {
          const value = streamOptions === undefined ? rest : { ...rest, stream_options: streamOptions };
          const text = JSON.stringify(value, undefined, indent);
          const parsed = parseJsonText(text) as Record<string, unknown>;
          fc.pre(!Object.hasOwn(rest, "stream_options") && !Object.hasOwn(streamOptions ?? {}, "__proto__"));
          const edited = parseJsonText(ask(text)!);
          expect(edited).toEqual({
            ...parsed,
            stream_options: { ...(parsed["stream_options"] as object | null), include_usage: true },
          });
        },
      ),
    );
  });
});
