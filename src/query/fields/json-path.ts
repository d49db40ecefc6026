import { join, param, sql, type Sql } from "../sql.ts";
import type { Column } from "./columns.ts";

/** A column of JSON, and whether its keys may hold the rest of a path. */
export type JsonColumn = Pick<Column, "sql" | "dottedKeys">;

const ARRAY_INDEX = /^(?:0|-?[1-9]\d{0,8})$/;

/** A key that holds the rest of a path is looked for at so many of its first steps. */
const MAX_DOTTED_PLACES = 8;

/** Each of these steps doubles the SQL. */
export const MAX_INDEX_STEPS = 6;

/** The number of steps that look like an integer. */
export function countIndexSteps(steps: readonly string[]): number {
  return steps.filter(isIndex).length;
}

/** An estimate of the pieces of SQL that `readJsonPath` makes of a path. */
export function weightOfPath({ dottedKeys }: Pick<Column, "dottedKeys">, steps: readonly string[]): number {
  const places = dottedKeys === true ? 1 + 2 * Math.min(steps.length, MAX_DOTTED_PLACES) : 1;
  return (steps.length + 4) * 2 ** countIndexSteps(steps) * places;
}

/**
 * The text form of the value at a path of a JSON column, `Nullable(String)`: NULL for a missing key and for JSON null;
 * strings without quotes, canonical numbers, containers as compact JSON. A step that looks like an integer is a key of an
 * object or an index of an array, from the end if negative.
 */
export function readJsonPath(column: JsonColumn, steps: readonly string[]): Sql {
  return readAt(column, steps, {
    read: asText,
    isAbsent: (value) => sql`isNull(${value})`,
  });
}

/** The value at a path as JSON, `String`: '' for a missing key, `null` for JSON null. Steps as above. */
export function readRawJson(column: JsonColumn, steps: readonly string[]): Sql {
  return readAt({ ...column, sql: sql`ifNull(${column.sql}, '')` }, steps, {
    read: (path) => sql`JSONExtractRaw(${path})`,
    isAbsent: (value) => sql`${value} IN ('', 'null')`,
  });
}

/**
 * The number at a path, `Nullable(Float64)`: also that of a string which is one, and 1 or 0 for a boolean; NULL for
 * anything else. It costs half as much as the text form read as a number.
 */
export function readJsonNumber(column: JsonColumn, steps: readonly string[]): Sql {
  return readAt(column, steps, {
    read: (path) => sql`JSONExtract(${path}, 'Nullable(Float64)')`,
    isAbsent: (value) => sql`isNull(${value})`,
  });
}

/** Whether `true` or `false` is at a path. */
export function isJsonBoolean(column: JsonColumn, steps: readonly string[]): Sql {
  return readAt(column, steps, {
    read: (path) => sql`JSONType(${path}) = 'Bool'`,
    isAbsent: (value) => sql`NOT (${value})`,
  });
}

interface Reading {
  readonly read: (path: Sql) => Sql;
  /** True of all values that are absent, and cheap. */
  readonly isAbsent: (value: Sql) => Sql;
}

const asText = (path: Sql): Sql => sql`JSONExtract(${path}, 'Nullable(String)')`;

/** Reads keys that contain dots: applies to documents with such a key and no value at the nested path. */
function readAt(column: JsonColumn, steps: readonly string[], { read, isAbsent }: Reading): Sql {
  const value = branch([column.sql], steps, read);
  if (column.dottedKeys !== true || steps.length < 2) return value;
  const endOfKey = JSON.stringify(steps.slice(-2).join(".")).slice(1);
  const firsts = steps.slice(0, Math.min(steps.length - 1, MAX_DOTTED_PLACES));
  const places = firsts.map((_, at) => [...steps.slice(0, at), steps.slice(at).join(".")]);
  const values = places.map((place) => branch([column.sql], place, read));
  const found = values
    .slice(0, -1)
    .map((other, at) => sql`${branch([column.sql], places[at]!, (path) => sql`JSONHas(${path})`)}, ${other}`);
  const last = values.at(-1)!;
  const elsewhere = found.length === 0 ? last : sql`multiIf(${join(found, ", ")}, ${last})`;
  const hasKey = sql`position(ifNull(${column.sql}, ''), ${param("String", endOfKey)}) > 0`;
  const isAbsentAsText = sql`isNull(${branch([column.sql], steps, asText)})`;
  return sql`if(${isAbsent(value)} AND ${hasKey} AND ${isAbsentAsText}, ${elsewhere}, ${value})`;
}

/**
 * An integer argument would select the n-th member of an object, so the container's type is checked first. (Descending
 * container by container does not work, because the engine cannot always read again what it prints of one.)
 */
function branch(taken: readonly Sql[], steps: readonly string[], read: (path: Sql) => Sql): Sql {
  const next = steps.findIndex(isIndex);
  if (next === -1) return read(join([...taken, ...steps.map(key)], ", "));
  const step = steps[next]!;
  const rest = steps.slice(next + 1);
  const container = [...taken, ...steps.slice(0, next).map(key)];
  const inArray = branch([...container, sql`${param("Int64", engineIndex(step))}`], rest, read);
  const inObject = branch([...container, key(step)], rest, read);
  return sql`if(JSONType(${join(container, ", ")}) = 'Array', ${inArray}, ${inObject})`;
}

function key(step: string): Sql {
  return sql`${param("String", step)}`;
}

function isIndex(step: string): boolean {
  return ARRAY_INDEX.test(step);
}

/** Converts to ClickHouse's array index: from 1, or from -1 backwards. */
function engineIndex(step: string): number {
  const index = Number(step);
  return index < 0 ? index : index + 1;
}

/** Splits a dotted field name into parts; `\.` is a dot inside a part. */
export function splitFieldName(name: string): readonly [root: string, ...steps: string[]] {
  const [root = "", ...steps] = name.split(/(?<!\\)\./).map((part) => part.replaceAll("\\.", "."));
  return [root, ...steps];
}

/** Paths into payloads: keys and array indices joined by dots. A key that contains a dot has no path. */
export const MAX_PATH_CHARS = 1024;
export const MAX_PATH_SEGMENTS = 32;
