const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const ZERO = 0x30;
/** From this length on a call into the runtime is cheaper than a loop. */
const LONG = 40;
/** Whole numbers up to here are written digit by digit with cheap arithmetic. */
const MAX_INT32 = 2 ** 31 - 1;

/** JSON text written as bytes: several times faster than making strings of it, because a large answer is mostly copying. */
export class ByteWriter {
  private bytes: Buffer;
  private at = 0;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size);
  }

  get length(): number {
    return this.at;
  }

  /** What was written so far; the writer begins anew. */
  take(): Buffer {
    const taken = this.bytes.subarray(0, this.at);
    this.bytes = Buffer.allocUnsafe(this.bytes.length);
    this.at = 0;
    return taken;
  }

  copy(text: Uint8Array): void {
    this.reserve(text.length);
    if (text.length > LONG) {
      this.bytes.set(text, this.at);
      this.at += text.length;
      return;
    }
    const { bytes } = this;
    let { at } = this;
    for (let from = 0; from < text.length; from++) bytes[at++] = text[from]!;
    this.at = at;
  }

  /** UTF-8 bytes as a JSON string. */
  string(source: Buffer, start: number, end: number): void {
    this.reserve(end - start + 2);
    const { bytes } = this;
    const before = this.at;
    let { at } = this;
    bytes[at++] = QUOTE;
    for (let from = start; from < end; from++) {
      const byte = source[from]!;
      if (byte === QUOTE || byte === BACKSLASH || byte < FIRST_PRINTABLE) {
        this.at = before;
        this.copy(Buffer.from(JSON.stringify(source.toString("utf8", start, end))));
        return;
      }
      bytes[at++] = byte;
    }
    bytes[at++] = QUOTE;
    this.at = at;
  }

  /** A finite number as JSON writes it. */
  number(value: number): void {
    if (value >= 0 && value <= MAX_INT32 && Number.isInteger(value)) this.digits(value);
    else this.copy(Buffer.from(String(value)));
  }

  private digits(value: number): void {
    this.reserve(10);
    let end = this.at + 1;
    for (let bound = 10; bound <= value; bound *= 10) end++;
    let rest = value;
    for (let at = end - 1; at >= this.at; at--) {
      const tenth = (rest / 10) | 0;
      this.bytes[at] = ZERO + rest - tenth * 10;
      rest = tenth;
    }
    this.at = end;
  }

  private reserve(size: number): void {
    if (this.at + size <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.at + size));
    this.bytes.copy(larger, 0, 0, this.at);
    this.bytes = larger;
  }
}
