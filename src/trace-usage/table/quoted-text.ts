/** Text with its closing JSON quote, compared four bytes at a time. */
export class QuotedText {
  /** Bytes without the quote. */
  readonly length: number;
  private readonly words: Int32Array;
  private readonly rest: Uint8Array;

  constructor(text: string) {
    const isWrittenAsIs = JSON.stringify(text) === `"${text}"`;
    // never matches a text with escapes: no byte of JSON is 0
    const bytes = Buffer.from(isWrittenAsIs ? `${text}"` : "\0");
    const words = bytes.length >> 2;
    this.length = bytes.length - 1;
    this.words = Int32Array.from({ length: words }, (_, word) => bytes.readInt32LE(word * 4));
    this.rest = Uint8Array.from(bytes.subarray(words * 4));
  }

  /** True if this text begins at `start`, after a quote. Reads up to three bytes past the closing quote. */
  isAt(source: DataView, start: number): boolean {
    const { words, rest } = this;
    let at = start;
    for (let word = 0; word < words.length; word++, at += 4)
      if (source.getInt32(at, true) !== words[word]) return false;
    for (let byte = 0; byte < rest.length; byte++, at++) if (source.getUint8(at) !== rest[byte]) return false;
    return true;
  }
}
