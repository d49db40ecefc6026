const SEARCHED = 32;

/** Dictionary of texts that repeat often. */
export class StringDictionary {
  private readonly texts: string[] = [];
  private readonly bytes: Buffer[] = [];
  private readonly numbers = new Map<string, number>();

  get count(): number {
    return this.texts.length;
  }

  numberOf(text: string): number {
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    const number = this.texts.length;
    this.numbers.set(text, number);
    this.texts.push(text);
    this.bytes.push(Buffer.from(text));
    return number;
  }

  /** Returns the number of a text; compares bytes first, because most responses have few texts. */
  numberOfBytes(source: Buffer, start: number, end: number): number {
    const searched = Math.min(this.bytes.length, SEARCHED);
    for (let number = 0; number < searched; number++) {
      if (isAt(this.bytes[number]!, source, start, end)) return number;
    }
    return this.numberOf(source.toString("utf8", start, end));
  }

  textOf(number: number): string {
    return this.texts[number]!;
  }
}

function isAt(text: Buffer, source: Buffer, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let at = 0; at < text.length; at++) if (text[at] !== source[start + at]) return false;
  return true;
}
