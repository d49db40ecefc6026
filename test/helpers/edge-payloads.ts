import { TEXTS } from "./edge-values.ts";

const texts = Object.values(TEXTS);

/** Payloads, and the text they come back as. */
export const PAYLOADS: readonly (readonly [sent: string, read: string])[] = [
  ...texts.map((text): [string, string] => [
    JSON.stringify({ text }),
    JSON.stringify({ text: text.toWellFormed() }),
  ]),
  ...texts.map((text): [string, string] => [
    `{${JSON.stringify(text)}:1}`,
    `{${JSON.stringify(text.toWellFormed())}:1}`,
  ]),
  ...[
    "0",
    "-1",
    "0.1",
    "1.5e300",
    "5e-324",
    "9007199254740991",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "true",
    "null",
    "[]",
    "{}",
    "[[],[{}],null]",
    '"1"',
  ].map((value): [string, string] => [`{"v":${value}}`, `{"v":${value}}`]),
  ['{"v":NaN}', '{"v":null}'],
  ['{"v":-Infinity}', '{"v":null}'],
  ['{"v":1e400}', '{"v":null}'],
  ['{"v":18446744073709551616}', '{"v":18446744073709552000}'],
  [`{"v":${"[".repeat(250)}${"]".repeat(250)}}`, `{"v":${"[".repeat(250)}${"]".repeat(250)}}`],
  ['{"a.b":1,"a":{"b":2}}', '{"a.b":1,"a":{"b":2}}'],
  ['{"":{"":1}}', '{"":{"":1}}'],
  ['{"constructor":{"prototype":{"x":1}}}', '{"constructor":{"prototype":{"x":1}}}'],
  ['{"z":1,"a":2,"10":3,"9":4}', '{"9":4,"10":3,"z":1,"a":2}'],
  [`{"long":"${"x".repeat(1_000_000)}"}`, `{"long":"${"x".repeat(1_000_000)}"}`],
];

/** Member by member, and digit by digit: as `JSON.parse` would read it, but for integers. */
export function canonical(json: string): string {
  return JSON.stringify(
    JSON.parse(json, (_, value: unknown, context?: { source: string }) =>
      typeof value === "number" && context !== undefined && !Number.isSafeInteger(value)
        ? /^-?\d{1,20}$/.test(context.source) && BigInt(context.source) < 2n ** 64n
          ? `integer ${context.source}`
          : value
        : value,
    ),
  );
}
