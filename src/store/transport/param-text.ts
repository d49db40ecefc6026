import type { ParamType, ParamValue } from "../../query/sql.ts";

const escapes: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "'": "\\'",
  "\0": "\\0",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

/**
 * Encodes a query parameter: escaped as a TabSeparated field, strings of an array quoted.
 * Source: https://clickhouse.com/docs/interfaces/cli#cli-queries-with-parameters-syntax
 */
export function paramText(type: ParamType, value: ParamValue): string {
  if (value === null) return "\\N";
  if (typeof value === "string") return escaped(value);
  if (!Array.isArray(value)) return String(value);
  const quoted = type === "Array(String)";
  return `[${value.map((one: string | number) => (quoted ? `'${escaped(String(one))}'` : String(one))).join(",")}]`;
}

function escaped(text: string): string {
  return text.replace(/[\\'\0\b\f\n\r\t]/g, (character) => escapes[character]!);
}
