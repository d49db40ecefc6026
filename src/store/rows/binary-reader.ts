import { viewOf } from "../../shared/buffers.ts";

/** Base of readers of ClickHouse's binary formats. */
export abstract class BinaryReader {
  protected readonly bytes: Buffer;
  private readonly view: DataView;
  protected at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.view = viewOf(bytes);
  }

  /** Reads an Int64, exact up to 2^53. */
  int64(): number {
    const value = this.view.getUint32(this.at, true) + this.view.getInt32(this.at + 4, true) * 4_294_967_296;
    this.at += 8;
    return value;
  }

  /** Reads a LEB128 integer. */
  protected varint(): number {
    let value = this.bytes[this.at++]!;
    if (value < 0x80) return value; // most texts are short
    value &= 0x7f;
    for (let scale = 128; ; scale *= 128) {
      const byte = this.bytes[this.at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }
}
