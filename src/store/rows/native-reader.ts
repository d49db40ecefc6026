import { BinaryReader } from "./binary-reader.ts";

/** Byte offsets of a string column's values. NULL becomes an empty range. */
export interface TextRanges {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

export function rangesFor(count: number): TextRanges {
  return { starts: new Uint32Array(count), ends: new Uint32Array(count) };
}

/**
 * Reader of the Native format: blocks of rows, each with its columns in the order selected.
 * Source: https://clickhouse.com/docs/interfaces/formats/Native
 */
export class NativeReader extends BinaryReader {
  private rows = 0;

  /** Advances to the next block; returns its number of rows, 0 at the end. */
  nextBlock(): number {
    if (this.at >= this.bytes.length) return 0;
    this.varint(); // number of columns
    this.rows = this.varint();
    return this.rows;
  }

  /** Returns a UInt8 column as a view of the bytes. */
  uint8s(): Uint8Array {
    this.skipHeader();
    return this.take(this.rows);
  }

  /** Returns a Nullable(UInt8) column as a view of the bytes; NULL becomes 0. */
  nullableUint8s(): Uint8Array {
    this.skipHeader();
    const isNull = this.take(this.rows);
    const values = this.take(this.rows);
    for (let row = 0; row < this.rows; row++) if (isNull[row] === 1) values[row] = 0;
    return values;
  }

  /** Reads an Int64 column, exact up to 2^53, into `into` from index `from` on. */
  int64s(into: Float64Array, from: number): void {
    this.skipHeader();
    for (let row = 0; row < this.rows; row++) into[from + row] = this.int64();
  }

  /** Like `int64s` for Nullable(Int64); NULL becomes Infinity. */
  nullableInt64s(into: Float64Array, from: number): void {
    this.skipHeader();
    const isNull = this.take(this.rows);
    for (let row = 0; row < this.rows; row++) {
      const value = this.int64();
      into[from + row] = isNull[row] === 1 ? Number.POSITIVE_INFINITY : value;
    }
  }

  /** Returns the first value of a UInt64 column. */
  firstUint64(): bigint {
    this.skipHeader();
    const first = this.bytes.readBigUInt64LE(this.at);
    this.at += this.rows * 8;
    return first;
  }

  /** Reads a String column into `into` from index `from` on. */
  strings(into: TextRanges, from: number): void {
    this.skipHeader();
    for (let row = 0; row < this.rows; row++) {
      const length = this.varint();
      into.starts[from + row] = this.at;
      this.at += length;
      into.ends[from + row] = this.at;
    }
  }

  /** Like `strings` for Nullable(String). */
  nullableStrings(into: TextRanges, from: number): void {
    this.skipHeader();
    const isNull = this.take(this.rows);
    for (let row = 0; row < this.rows; row++) {
      const length = this.varint();
      into.starts[from + row] = this.at;
      this.at += length;
      into.ends[from + row] = isNull[row] === 1 ? into.starts[from + row]! : this.at;
    }
  }

  /** Skips name and type. Throws for LowCardinality, whose layout differs: statements must cast it. */
  private skipHeader(): void {
    this.take(this.varint());
    const length = this.varint();
    const type = this.bytes.toString("latin1", this.at, this.at + length);
    this.at += length;
    if (type.includes("LowCardinality")) throw new Error(`no reader for a column of ${type}`);
  }

  private take(length: number): Uint8Array {
    const taken = this.bytes.subarray(this.at, this.at + length);
    this.at += length;
    return taken;
  }
}
