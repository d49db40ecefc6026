import type { OpenAPIV3_1 } from "openapi-types";

/** A value at the edge of what a field takes, as JSON text; undefined: the field is absent. */
export interface Edge {
  readonly name: string;
  readonly json: string | undefined;
}

const edge = (name: string, value: unknown): Edge => ({ name, json: JSON.stringify(value) });

/** Values for fields of every type, valid or not. */
const ANY: readonly Edge[] = [
  { name: "absent", json: undefined },
  edge("null", null),
  edge("true", true),
  edge("0", 0),
  edge("-1", -1),
  edge("0.5", 0.5),
  { name: "-0", json: "-0" },
  edge("[]", []),
  edge("{}", {}),
  edge("[null]", [null]),
  edge("[[]]", [[]]),
  edge("2^53-1", 2 ** 53 - 1),
  edge("2^53", 2 ** 53),
  { name: "2^63", json: "9223372036854775808" },
  { name: "2^64", json: "18446744073709551616" },
  { name: "40 digits", json: "1".repeat(40) },
  { name: "1e308", json: "1e308" },
  { name: "1e400", json: "1e400" },
  { name: "5e-324", json: "5e-324" },
  { name: "NaN", json: "NaN" },
  { name: "-Infinity", json: "-Infinity" },
  { name: "{__proto__}", json: '{"__proto__":{"x":1}}' },
  { name: "{constructor}", json: '{"constructor":{"prototype":{"x":1}}}' },
  { name: "deep", json: "[".repeat(300) + "]".repeat(300) },
];

/** Texts that have been taken for something else. */
export const TEXTS: Readonly<Record<string, string>> = {
  empty: "",
  space: " ",
  newline: "a\nb",
  CR: "a\rb",
  tab: "a\tb",
  NUL: "a\u0000b",
  "NUL alone": "\u0000",
  "lone high surrogate": "a\ud800b",
  "lone low surrogate": "a\udc00b",
  "line separator": "a\u2028b",
  emoji: "😀",
  "not a character": "a\uffffb",
  "byte order mark": "\ufeffa",
  "the prototype": "__proto__",
  constructor: "constructor",
  toString: "toString",
  quote: `a'b"c\`d`,
  backslash: String.raw`a\b\N\n\x`,
  braces: "{p0:String} $expr ?",
  percent: "100%_",
  "as null": String.raw`\N`,
  "SQL comment": "a -- b /* c */",
  number: "1",
  negative: "-1",
  "2^53": "9007199254740993",
  "1e400": "1e400",
  slash: "a/b",
  dots: "../..",
};

/** Instants, and what they are in UTC; undefined: none that can be stored. */
export const INSTANTS: readonly (readonly [text: string, utc: string | undefined])[] = [
  ["2026-01-01T00:00:00+99:99", undefined],
  ["2026-01-01T00:00:00+24:00", undefined],
  ["2026-01-01T00:00:00-24:00", undefined],
  ["2026-01-01T00:00:00+00:60", undefined],
  ["2026-01-01T00:00:00+23:59", "2025-12-31T00:01:00.000000Z"],
  ["2026-01-01T00:00:00-14:00", "2026-01-01T14:00:00.000000Z"],
  ["2026-01-01T00:00:00+05:45", "2025-12-31T18:15:00.000000Z"],
  ["2026-01-01T00:00:00+0545", "2025-12-31T18:15:00.000000Z"],
  ["2026-01-01T00:00:00-00:00", "2026-01-01T00:00:00.000000Z"],
  ["2026-01-01T00:00:00", "2026-01-01T00:00:00.000000Z"],
  ["2026-01-01 00:00:00.5Z", "2026-01-01T00:00:00.500000Z"],
  ["2026-01-01T00:00:00.123456789Z", "2026-01-01T00:00:00.123456Z"],
  ["2026-01-01", "2026-01-01T00:00:00.000000Z"],
  ["2024-02-29T23:59:59.999999Z", "2024-02-29T23:59:59.999999Z"],
  ["2026-02-29T00:00:00Z", undefined],
  ["2026-01-01T24:00:00Z", undefined],
  ["2026-01-01T00:00:60Z", undefined],
  ["1899-12-31T23:59:59Z", undefined],
  ["1900-01-01T00:00:00+14:00", undefined],
  ["1900-01-01T00:00:00Z", "1900-01-01T00:00:00.000000Z"],
  ["1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"],
  ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z"],
  ["2254-12-31T23:59:59.999999Z", "2254-12-31T23:59:59.999999Z"],
  ["2255-01-01T00:00:00Z", undefined],
  ["9999-12-31T23:59:59-23:59", undefined],
  ["0000-01-01T00:00:00Z", undefined],
  ["", undefined],
  ["now", undefined],
];

const MAX_TRIED_ITEMS = 20_000;

/** The edges of a field: what any may be sent, and what its schema says of its size. */
export function edgesOf(schema: OpenAPIV3_1.SchemaObject): readonly Edge[] {
  const kinds = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])] as OpenAPIV3_1.SchemaObject[];
  return [
    ...ANY,
    ...Object.entries(TEXTS).map(([name, text]) => edge(name, text)),
    ...INSTANTS.map(([text]) => edge(text, text)),
    edge("513 characters", "x".repeat(513)),
    ...kinds.flatMap(sizesOf),
  ];
}

function sizesOf(schema: OpenAPIV3_1.SchemaObject): Edge[] {
  const { maxLength, maximum, minimum } = schema;
  const maxItems = "items" in schema ? schema.maxItems : undefined;
  return [
    ...(maxLength === undefined
      ? []
      : [maxLength, maxLength + 1].flatMap((length) => [
          edge(`${length} x`, "x".repeat(length)),
          edge(`${length} é`, "é".repeat(length)),
          edge(`${length} emoji`, "😀".repeat(length)),
        ])),
    ...[maximum, minimum].flatMap((bound) =>
      bound === undefined ? [] : [-1, 0, 1].map((more) => edge(`${bound} + ${more}`, bound + more)),
    ),
    ...(maxItems === undefined || maxItems > MAX_TRIED_ITEMS
      ? []
      : [maxItems, maxItems + 1].map((length) =>
          edge(
            `${length} items`,
            Array.from({ length }, (_, index) => `i${index}`),
          ),
        )),
  ];
}
