import { BinaryReader } from "./binary-reader.ts";

/**
 * Reads the engine's RowBinary bytes, value by value, in the order of the selected columns.
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

  skipString(): void {
    const length = this.varint();
    this.at += length;
  }
}
