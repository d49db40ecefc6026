import { join, param, sql, type Param, type ParamType, type ParamValue, type Sql } from "../../query/sql.ts";
import { paramText } from "./param-text.ts";

export interface FieldLimits {
  readonly maxFields: number;
  readonly maxFieldBytes: number;
}

/**
 * Limits of one HTTP form, below the server's 1,000 fields of 128 KiB, which no request can raise.
 * Source: ClickHouse settings `http_max_fields`, `http_max_field_value_size`.
 */
const serverLimits: FieldLimits = { maxFields: 900, maxFieldBytes: 100_000 };

/** Rewrites a statement so that its parameters fit: splits large values into chunks, and binds many scalars as arrays. */
export function splitParams(statement: Sql, limits: FieldLimits = serverLimits): Sql {
  const split = statement.chunks.map((chunk) =>
    typeof chunk === "string" || !isLarge(chunk, limits.maxFieldBytes)
      ? asSql(chunk)
      : inChunks(chunk, limits.maxFieldBytes),
  );
  return inArrays(join(split, ""), limits.maxFields);
}

function asSql(chunk: string | Param): Sql {
  return { kind: "sql", chunks: [chunk] };
}

const MAX_BYTES_PER_CHARACTER = 4;

function isLarge({ type, value }: Param, maxBytes: number): boolean {
  if (typeof value === "string" && value.length * MAX_BYTES_PER_CHARACTER <= maxBytes) return false;
  return Buffer.byteLength(paramText(type, value)) > maxBytes;
}

function inChunks({ type, value }: Param, maxBytes: number): Sql {
  if (typeof value === "string") {
    const chunks = splitText(value, Math.floor(maxBytes / MAX_BYTES_PER_CHARACTER));
    return sql`concat(${join(
      chunks.map((chunk) => sql`${param(type, chunk)}`),
      ", ",
    )})`;
  }
  return sql`arrayConcat(${join(splitList(type, value as readonly (string | number)[], maxBytes), ", ")})`;
}

/** Splits text, never inside a surrogate pair. */
function splitText(text: string, maxLength: number): string[] {
  const chunks: string[] = [];
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + maxLength, text.length);
    if (to < text.length && /[\ud800-\udbff]/.test(text[to - 1]!)) to--;
    chunks.push(text.slice(from, to));
    from = to;
  }
  return chunks;
}

function splitList(type: ParamType, list: readonly (string | number)[], maxBytes: number): Sql[] {
  const chunks: Sql[] = [];
  let chunk: (string | number)[] = [];
  let bytes = 0;
  const endChunk = (): void => {
    if (chunk.length > 0) chunks.push(sql`${param(type, chunk as ParamValue)}`);
    chunk = [];
    bytes = 0;
  };
  for (const one of list) {
    const size = Buffer.byteLength(paramText(type, [one] as ParamValue));
    if (bytes + size > maxBytes) endChunk();
    if (size > maxBytes) chunks.push(sql`[${inChunks(param("String", one), maxBytes)}]`);
    else chunk.push(one);
    bytes += size;
  }
  endChunk();
  return chunks;
}

const arrayTypes: Partial<Record<ParamType, ParamType>> = {
  String: "Array(String)",
  Float64: "Array(Float64)",
  Int64: "Array(Int64)",
  UInt64: "Array(UInt64)",
};

/** Binds scalars of one type as arrays; few per array, because ClickHouse copies an array at each use. */
function inArrays(statement: Sql, maxFields: number): Sql {
  const params = statement.chunks.filter((chunk) => typeof chunk !== "string");
  if (params.length <= maxFields) return statement;
  const scalars = params.filter((one) => arrayTypes[one.type] !== undefined);
  const typeCount = Object.keys(arrayTypes).length;
  const arrayCount = Math.max(1, maxFields - (params.length - scalars.length) - typeCount);
  const perArray = Math.ceil(scalars.length / arrayCount);
  const elements = new Map<string | Param, Sql>();
  for (const [type, members] of Map.groupBy(scalars, (one) => one.type)) {
    for (let from = 0; from < members.length; from += perArray) {
      const group = members.slice(from, from + perArray);
      const array = param(arrayTypes[type]!, group.map((one) => one.value) as ParamValue);
      group.forEach((one, index) =>
        elements.set(one, sql`arrayElement(${array},${asSql(String(index + 1))})`),
      );
    }
  }
  return join(
    statement.chunks.map((chunk) => elements.get(chunk) ?? asSql(chunk)),
    "",
  );
}
