/**
 * Reads the engine's RowBinary bytes, value by value, in the order of the selected columns.
 * Source: https://clickhouse.com/docs/interfaces/formats/RowBinary
 */
export class RowBinaryReader {
  private readonly bytes: Buffer;
  private at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get done(): boolean {
    return this.at >= this.bytes.length;
  }

  uint8(): number {
    return this.bytes[this.at++]!;
  }

  /** Exact up to 2^53. */
  int64(): number {
    const value = this.bytes.readUInt32LE(this.at) + this.bytes.readInt32LE(this.at + 4) * 4_294_967_296;
    this.at += 8;
    return value;
  }

  string(): string {
    const length = this.length();
    const start = this.at;
    this.at += length;
    return length === 0 ? "" : this.bytes.toString("utf8", start, this.at);
  }

  skipString(): void {
    const length = this.length();
    this.at += length;
  }

  private length(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }
}
