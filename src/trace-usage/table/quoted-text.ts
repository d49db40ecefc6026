/** A text with the quote that ends it in JSON, to be compared four bytes at a time. */
export class QuotedText {
  /** In bytes, without the quote. */
  readonly length: number;
  private readonly words: Int32Array;
  private readonly rest: Uint8Array;

  constructor(text: string) {
    const isWrittenAsIs = JSON.stringify(text) === `"${text}"`;
    // what is written with escapes is nowhere: no byte of JSON is 0
    const bytes = Buffer.from(isWrittenAsIs ? `${text}"` : "\0");
    const words = bytes.length >> 2;
    this.length = bytes.length - 1;
    this.words = Int32Array.from({ length: words }, (_, word) => bytes.readInt32LE(word * 4));
    this.rest = Uint8Array.from(bytes.subarray(words * 4));
  }

  /** Whether it is what begins at `start`, after a quote. At least three bytes follow the text that is there, and its quote. */
  isAt(source: DataView, start: number): boolean {
    const { words, rest } = this;
    let at = start;
    for (let word = 0; word < words.length; word++, at += 4)
      if (source.getInt32(at, true) !== words[word]) return false;
    for (let byte = 0; byte < rest.length; byte++, at++) if (source.getUint8(at) !== rest[byte]) return false;
    return true;
  }
}
