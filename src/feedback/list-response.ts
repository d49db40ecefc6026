import { isoOf } from "../shared/instant.ts";
import { isJsonObject, parseJson, stringifyJson } from "../shared/json.ts";
import { listFields, type ListField } from "./list-schema.ts";
import type { ListedRow } from "./list.ts";
import { scorerMembers } from "./schema.ts";

/** Serializes the response. Inserts payloads as text, because a parser would round their numbers. */
export function listText(rows: readonly ListedRow[], requested: readonly string[] | undefined): string {
  const fields = requested === undefined ? allFields : new Set(requested);
  return `{"result":[${rows.map((row) => rowText(row, fields)).join(",")}]}`;
}

const allFields: ReadonlySet<string> = new Set([...listFields, ...scorerMembers]);

/** Serializes a feedback to JSON. */
export function rowText(row: ListedRow, fields: ReadonlySet<string> = allFields): string {
  const members = listFields
    .filter((field) => fields.has(field))
    .map((field) => `"${field}":${valueText(row, field)}`);
  const scorer = row.scorer === "" ? {} : parseJson(row.scorer);
  for (const [name, value] of isJsonObject(scorer) ? Object.entries(scorer) : []) {
    if (fields.has(name)) members.push(`"${name}":${stringifyJson(value)}`);
  }
  return `{${members.join(",")}}`;
}

function valueText(row: ListedRow, field: ListField): string {
  if (field === "payload") return row.payload;
  if (field === "created_at") return `"${isoOf(row.created_at_us)}"`;
  return JSON.stringify(row[field]);
}
