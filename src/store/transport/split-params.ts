import { join, param, sql, type Param, type ParamType, type ParamValue, type Sql } from "../../query/sql.ts";
import { paramText } from "./param-text.ts";

export interface FieldLimits {
  readonly maxFields: number;
  readonly maxFieldBytes: number;
}

/**
 * What a server takes of one HTTP form, with room to spare: 1,000 fields of 128 KiB, which no request can raise.
 * Source: ClickHouse settings `http_max_fields`, `http_max_field_value_size`.
 */
const serverLimits: FieldLimits = { maxFields: 900, maxFieldBytes: 100_000 };

/** The same statement with parameters that fit: a large value is bound in pieces, too many are bound in arrays. */
export function splitParams(statement: Sql, limits: FieldLimits = serverLimits): Sql {
  const cut = statement.chunks.map((chunk) =>
    typeof chunk === "string" || !isLarge(chunk, limits.maxFieldBytes)
      ? asSql(chunk)
      : inChunks(chunk, limits.maxFieldBytes),
  );
  return inArrays(join(cut, ""), limits.maxFields);
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
    const pieces = cutText(value, Math.floor(maxBytes / MAX_BYTES_PER_CHARACTER));
    return sql`concat(${join(
      pieces.map((piece) => sql`${param(type, piece)}`),
      ", ",
    )})`;
  }
  return sql`arrayConcat(${join(cutList(type, value as readonly (string | number)[], maxBytes), ", ")})`;
}

/** Cuts between characters, never inside a surrogate pair. */
function cutText(text: string, maxLength: number): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + maxLength, text.length);
    if (to < text.length && /[\ud800-\udbff]/.test(text[to - 1]!)) to--;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

function cutList(type: ParamType, list: readonly (string | number)[], maxBytes: number): Sql[] {
  const pieces: Sql[] = [];
  let piece: (string | number)[] = [];
  let bytes = 0;
  const endChunk = (): void => {
    if (piece.length > 0) pieces.push(sql`${param(type, piece as ParamValue)}`);
    piece = [];
    bytes = 0;
  };
  for (const one of list) {
    const size = Buffer.byteLength(paramText(type, [one] as ParamValue));
    if (bytes + size > maxBytes) endChunk();
    if (size > maxBytes) pieces.push(sql`[${inChunks(param("String", one), maxBytes)}]`);
    else piece.push(one);
    bytes += size;
  }
  endChunk();
  return pieces;
}

const arrayTypes: Partial<Record<ParamType, ParamType>> = {
  String: "Array(String)",
  Float64: "Array(Float64)",
  Int64: "Array(Int64)",
  UInt64: "Array(UInt64)",
};

/** Binds scalars of one type together, a few per array, because the engine repeats an array at each use. */
function inArrays(statement: Sql, maxFields: number): Sql {
  const params = statement.chunks.filter((chunk) => typeof chunk !== "string");
  if (params.length <= maxFields) return statement;
  const scalars = params.filter((one) => arrayTypes[one.type] !== undefined);
  const typeCount = Object.keys(arrayTypes).length;
  const room = Math.max(1, maxFields - (params.length - scalars.length) - typeCount);
  const perArray = Math.ceil(scalars.length / room);
  const places = new Map<string | Param, Sql>();
  for (const [type, members] of Map.groupBy(scalars, (one) => one.type)) {
    for (let from = 0; from < members.length; from += perArray) {
      const group = members.slice(from, from + perArray);
      const array = param(arrayTypes[type]!, group.map((one) => one.value) as ParamValue);
      group.forEach((one, index) => places.set(one, sql`arrayElement(${array},${asSql(String(index + 1))})`));
    }
  }
  return join(
    statement.chunks.map((chunk) => places.get(chunk) ?? asSql(chunk)),
    "",
  );
}
