import type { ValueType } from "../fields/columns.ts";
import { sql, trusted, type Sql } from "../sql.ts";
import type { Context } from "../read/typed.ts";

type Cast = (value: Sql) => Sql;

export const UNKNOWN = sql`CAST(NULL AS Nullable(UInt8))`;

const asIs: Cast = (value) => value;
const unknown: Cast = () => UNKNOWN;
const never: Cast = () => sql`0`;
const isNull: Cast = (value) => sql`isNull(${value})`;
const orEmpty: Cast = (value) => sql`ifNull(${value}, '')`;
const printed: Cast = (value) => sql`ifNull(toString(${value}), '')`;

/** A decimal number without spaces. The engine also reads `inf` and `nan`, and overflows to infinity. */
const parseNumber: Cast = (text) => sql`ifNotFinite(toFloat64OrNull(${text}), NULL)`;

/** `true`, `false`, or an integer from 0 to 255. */
const parseBool: Cast = (text) => sql`toUInt8OrNull(transform(${text}, ['true', 'false'], ['1', '0']))`;

const TIME =
  "(?:[01]\\\\d|2[0-3]):[0-5]\\\\d(?::[0-5]\\\\d(?:\\\\.\\\\d+)?)?(?:Z|[+-]\\\\d\\\\d:?\\\\d\\\\d)?";
const INSTANT = `^(?:\\\\d{4}-\\\\d\\\\d-\\\\d\\\\d(?:[T ]${TIME})?|\\\\d{9,10}(?:\\\\.\\\\d+)?)$`;

/** ISO 8601, or nine to ten digits of Unix seconds. The engine's own parser accepts much more, including hours beyond 23. */
const parseInstant: Cast = (text) =>
  sql`parseDateTime64BestEffortOrNull(extract(${text}, '${trusted(INSTANT)}'), 6, 'UTC')`;

const fromUnixSeconds: Cast = (seconds) =>
  sql`fromUnixTimestamp64Micro(accurateCastOrNull(round(toFloat64(${seconds}) * 1000000), 'Int64'), 'UTC')`;

/** Reads a value of each type in each context. `absent`: whether the value is missing. */
export const casts = {
  json: {
    text: orEmpty,
    number: parseNumber,
    bool: (value) => parseBool(orEmpty(value)),
    instant: (value) => parseInstant(orEmpty(value)),
    absent: isNull,
  },
  text: {
    text: asIs,
    number: parseNumber,
    bool: parseBool,
    instant: parseInstant,
    absent: (value) => sql`(${value} = '')`,
  },
  string: { text: asIs, number: parseNumber, bool: parseBool, instant: parseInstant, absent: never },
  number: {
    text: printed,
    number: (value) => sql`toFloat64(${value})`,
    bool: (value) => parseBool(printed(value)),
    instant: fromUnixSeconds,
    absent: isNull,
  },
  bool: {
    text: (value) => printed(sql`CAST(${value} AS Nullable(Bool))`),
    number: unknown,
    bool: asIs,
    instant: unknown,
    absent: isNull,
  },
  instant: {
    text: (value) => sql`ifNull(concat(replaceOne(toString(${value}), ' ', 'T'), 'Z'), '')`,
    number: unknown,
    bool: unknown,
    instant: asIs,
    absent: isNull,
  },
  refs: {
    text: (value) => sql`toJSONString(arraySort(${value}))`,
    number: unknown,
    bool: unknown,
    instant: unknown,
    absent: never,
  },
} as const satisfies Record<ValueType, Record<Context | "absent", Cast>>;
