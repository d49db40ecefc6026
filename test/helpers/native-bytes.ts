/** A column of a Native block. */
export interface Column {
  readonly type: "String" | "UInt8" | "Int64" | `Nullable(${"String" | "UInt8" | "Int64"})`;
  readonly values: readonly (string | number | bigint | null)[];
}

/** A block of rows as the engine writes it. */
export function nativeBlock(columns: readonly Column[]): Buffer {
  const rows = columns[0]!.values.length;
  const written = columns.map(({ type, values }, index) =>
    Buffer.concat([lengthPrefixed(`column${index}`), lengthPrefixed(type), ...valuesOf(type, values)]),
  );
  return Buffer.concat([varint(columns.length), varint(rows), ...written]);
}

function valuesOf(type: Column["type"], values: Column["values"]): Buffer[] {
  const nulls = type.startsWith("Nullable")
    ? [Buffer.from(values.map((value) => Number(value === null)))]
    : [];
  return [...nulls, ...nestedOf(type, values)];
}

/** Encodes the nested values; NULLs may have any value. */
function nestedOf(type: Column["type"], values: Column["values"]): Buffer[] {
  if (type.includes("UInt8")) return [Buffer.from(values.map((value) => Number(value ?? 3)))];
  if (type.includes("Int64"))
    return [Buffer.from(BigInt64Array.from(values.map((value) => BigInt(value ?? 3))).buffer)];
  return values.map((value) => lengthPrefixed(String(value ?? "")));
}

function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
