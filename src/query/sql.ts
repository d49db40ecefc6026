/** A ClickHouse parameter type, as in `{p0:Type}`. */
export type ParamType =
  | "String"
  | "Nullable(String)"
  | "Bool"
  | "Int64"
  | "UInt64"
  | "UInt8"
  | "UInt32"
  | "Float64"
  | "DateTime64(6, 'UTC')"
  | "DateTime64(3, 'UTC')"
  | "Array(String)"
  | "Array(Float64)"
  | "Array(Int64)"
  | "Array(UInt64)";

/** The values of parameters. 64-bit integers and instants are sent as text. */
export type ParamValue = string | number | boolean | null | readonly string[] | readonly number[];

export interface Param {
  readonly kind: "param";
  readonly type: ParamType;
  readonly value: ParamValue;
}

/** A fragment of SQL: literal text and unnamed parameters. Fragments compose in any order. */
export interface Sql {
  readonly kind: "sql";
  readonly chunks: readonly (string | Param)[];
}

/** SQL for the engine. Equal fragments render to equal bytes. */
export interface RenderedSql {
  readonly text: string;
  readonly params: Readonly<Record<string, ParamValue>>;
  /** The type of each parameter, by name. */
  readonly types: Readonly<Record<string, ParamType>>;
}

/**
 * Builds a fragment. Text only comes from the template. Interpolated values are fragments or parameters, so a value of a
 * request cannot become SQL text.
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | Param)[]): Sql {
  const chunks: (string | Param)[] = [];
  strings.forEach((text, index) => {
    if (text !== "") chunks.push(text);
    const part = parts[index];
    if (part === undefined) return;
    if (part.kind === "param") chunks.push(part);
    else for (const chunk of part.chunks) chunks.push(chunk);
  });
  return { kind: "sql", chunks };
}

/** A bound value. It gets its name when the statement is rendered. */
export function param(type: ParamType, value: ParamValue): Param {
  return { kind: "param", type, value };
}

/** Text from the code that is not written in place: a column, a table, or a keyword from one of our own tables. */
export function trusted(text: string): Sql {
  return { kind: "sql", chunks: [text] };
}

export function join(fragments: readonly Sql[], separator: string): Sql {
  const chunks: (string | Param)[] = [];
  fragments.forEach((fragment, index) => {
    if (index > 0) chunks.push(separator);
    for (const chunk of fragment.chunks) chunks.push(chunk);
  });
  return { kind: "sql", chunks };
}

/** Names the parameters p0, p1, … in reading order. A parameter that occurs several times has one name. */
export function render(fragment: Sql): RenderedSql {
  const params: Record<string, ParamValue> = {};
  const types: Record<string, ParamType> = {};
  const names = new Map<Param, string>();
  const text = fragment.chunks
    .map((chunk) => {
      if (typeof chunk === "string") return chunk;
      const name = names.get(chunk) ?? `p${names.size}`;
      names.set(chunk, name);
      params[name] = chunk.value;
      types[name] = chunk.type;
      return `{${name}:${chunk.type}}`;
    })
    .join("");
  return { text, params, types };
}
