import { BinaryReader } from "./binary-reader.ts";

/**
 * Reader of the RowBinary format, value by value, in the order of the selected columns.
 * Source: https://clickhouse.com/docs/interfaces/formats/RowBinary
 */
export class RowBinaryReader extends BinaryReader {
  get done(): boolean {
    return this.at >= this.bytes.length;
  }

  string(): string {
    const length = this.varint();
    const start = this.at;
    this.at += length;
    return length === 0 ? "" : this.bytes.toString("utf8", start, this.at);
  }

  uint8(): number {
    return this.bytes[this.at++]!;
  }

  /** Reads an Array(Int32). */
  int32s(): number[] {
    const values = Array.from({ length: this.varint() }, (_, at) => this.bytes.readInt32LE(this.at + at * 4));
    this.at += values.length * 4;
    return values;
  }

  /** Reads an Array(Int64), exact up to 2^53. */
  int64s(): number[] {
    return Array.from({ length: this.varint() }, () => this.int64());
  }

  skipString(): void {
    const length = this.varint();
    this.at += length;
  }
}
