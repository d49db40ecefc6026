/** Base of readers of ClickHouse's binary formats. */
export abstract class BinaryReader {
  protected readonly bytes: Buffer;
  protected at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Reads an Int64, exact up to 2^53. */
  int64(): number {
    const value = this.bytes.readUInt32LE(this.at) + this.bytes.readInt32LE(this.at + 4) * 4_294_967_296;
    this.at += 8;
    return value;
  }

  /** Reads a LEB128 integer. */
  protected varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }
}
