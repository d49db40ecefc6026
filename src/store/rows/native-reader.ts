import { BinaryReader } from "./binary-reader.ts";

/** The positions of a string column's values in the bytes. A NULL is an empty string. */
export interface TextRanges {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

export function rangesFor(count: number): TextRanges {
  return { starts: new Uint32Array(count), ends: new Uint32Array(count) };
}

/**
 * Reads the engine's Native bytes: blocks of rows, and in a block one column after the other, in the order selected.
 * Source: https://clickhouse.com/docs/interfaces/formats/Native
 */
export class NativeReader extends BinaryReader {
  private rows = 0;

  /** Goes to the next block and says how many rows it has; none at the end. */
  nextBlock(): number {
    if (this.at >= this.bytes.length) return 0;
    this.varint(); // how many columns
    this.rows = this.varint();
    return this.rows;
  }

  /** A column of UInt8, as long as the bytes live. */
  uint8s(): Uint8Array {
    this.skipHeader();
    return this.take(this.rows);
  }

  /** A column of Nullable(UInt8), as long as the bytes live. A NULL is 0. */
  nullableUint8s(): Uint8Array {
    this.skipHeader();
    const isNull = this.take(this.rows);
    const values = this.take(this.rows);
    for (let row = 0; row < this.rows; row++) if (isNull[row] === 1) values[row] = 0;
    return values;
  }

  /** Reads a column of Int64, exact up to 2^53, into `into` from index `from` on. */
  int64s(into: Float64Array, from: number): void {
    this.skipHeader();
    for (let row = 0; row < this.rows; row++) into[from + row] = this.int64();
  }

  /** The same of Nullable(Int64). A NULL is infinite. */
  nullableInt64s(into: Float64Array, from: number): void {
    this.skipHeader();
    const isNull = this.take(this.rows);
    for (let row = 0; row < this.rows; row++) {
      const value = this.int64();
      into[from + row] = isNull[row] === 1 ? Number.POSITIVE_INFINITY : value;
    }
  }

  /** The first value of a column of UInt64. */
  firstUint64(): bigint {
    this.skipHeader();
    const first = this.bytes.readBigUInt64LE(this.at);
    this.at += this.rows * 8;
    return first;
  }

  /** Reads a column of String into `into` from index `from` on. */
  strings(into: TextRanges, from: number): void {
    this.skipHeader();
    for (let row = 0; row < this.rows; row++) {
      const length = this.varint();
      into.starts[from + row] = this.at;
      this.at += length;
      into.ends[from + row] = this.at;
    }
  }

  /** The same of Nullable(String). */
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

  /** Name and type. A dictionary is laid out in another way; a statement must cast it. */
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
