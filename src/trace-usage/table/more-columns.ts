import { join, sql, type Sql } from "../../query/sql.ts";
import { resize, viewOf } from "../../shared/buffers.ts";
import { rangesFor, type NativeReader } from "../../store/rows/native-reader.ts";
import { areSameBytes } from "./id-bytes.ts";

/** Reads a block of `count` calls, from number `first` on. */
export type ReadMore = (reader: NativeReader, first: number, count: number) => void;

/** Column besides those of the fold. */
interface Column<Value> {
  /** `undefined`: not selected, all calls have the same value. */
  readonly sql: Sql | undefined;
  readonly open: (source: Buffer) => {
    readonly valueOf: (call: number) => Value;
    readonly readMore: ReadMore;
  };
}

type Columns = Readonly<Record<string, Column<unknown>>>;
type Values<Some extends Columns> = {
  readonly [Name in keyof Some]: ReturnType<Some[Name]["open"]>["valueOf"];
};

/** Declared columns: what a statement selects and how its bytes are read. */
export interface MoreColumns<More> {
  /** SQL of the columns, each preceded by a comma. `selected`: condition; values of other calls are ignored. */
  readonly select: (selected: Sql) => Sql;
  /** Creates the reader of these columns. `more`: the value of each for a call. */
  readonly open: (source: Buffer) => { readonly more: More; readonly readMore: ReadMore };
}

/** Declares columns by name, in the order of the statement. */
export function moreColumns<Some extends Columns>(
  declare: (selected: Sql) => Some,
): MoreColumns<Values<Some>> {
  return {
    select: (selected) =>
      join(
        Object.values(declare(selected)).map((column) =>
          column.sql === undefined ? sql`` : sql`, ${column.sql}`,
        ),
        "",
      ),
    open(source) {
      const opened = Object.entries(declare(sql`1`)).map(([name, { open }]) => ({ name, ...open(source) }));
      return {
        more: Object.fromEntries(opened.map(({ name, valueOf }) => [name, valueOf])) as Values<Some>,
        readMore(reader, first, count) {
          for (const { readMore } of opened) readMore(reader, first, count);
        },
      };
    },
  };
}

export const NO_MORE_COLUMNS = moreColumns(() => ({}));

/** Column that is not read. */
export function always<Value>(value: Value): Column<Value> {
  return { sql: undefined, open: () => ({ valueOf: () => value, readMore: () => undefined }) };
}

/** `UInt8` column of 1 where a condition, which is never NULL, is true. */
export function flag(condition: Sql): Column<boolean> {
  return {
    sql: sql`toUInt8(${condition})`,
    open() {
      let values = new Uint8Array(0);
      return {
        valueOf: (call) => values[call] === 1,
        readMore(reader, first, count) {
          values = resize(values, new Uint8Array(first + count));
          values.set(reader.uint8s(), first);
        },
      };
    },
  };
}

/** `Int64` column. */
export function integer(value: Sql): Column<number> {
  return {
    sql: sql`toInt64(${value})`,
    open() {
      let values = new Float64Array(0);
      return {
        valueOf: (call) => values[call]!,
        readMore(reader, first, count) {
          values = resize(values, new Float64Array(first + count));
          reader.int64s(values, first);
        },
      };
    },
  };
}

/** `String` column. Calls that follow each other often have the same text. */
export function text(value: Sql): Column<string> {
  return {
    sql: value,
    open(source) {
      const view = viewOf(source);
      let { starts, ends } = rangesFor(0);
      let last = { start: 0, end: 0, text: "" };
      return {
        valueOf(call) {
          const [start, end] = [starts[call]!, ends[call]!];
          if (!areSameBytes(view, { start, end }, last))
            last = { start, end, text: source.toString("utf8", start, end) };
          return last.text;
        },
        readMore(reader, first, count) {
          const ranges = rangesFor(first + count);
          starts = resize(starts, ranges.starts);
          ends = resize(ends, ranges.ends);
          reader.strings(ranges, first);
        },
      };
    },
  };
}

/** `UInt64` column that has the same value in all rows. */
export function unsigned(value: Sql): Column<bigint> {
  return {
    sql: value,
    open() {
      let found = 0n;
      return {
        valueOf: () => found,
        readMore(reader) {
          found = reader.firstUint64();
        },
      };
    },
  };
}
