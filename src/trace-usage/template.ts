/** How many an answer keeps of a kind. */
export const MAX_TEMPLATES = 10_000;

/** A text with numbers in it, whose digits are written over for each use. */
export interface Template {
  readonly text: Buffer;
  /** How far before the text's end the digits of each number end. */
  readonly fromEnd: Int32Array;
}

/** The text of some pieces, each of which ends with a number, and a tail. */
export function templateOf(pieces: readonly string[], tail: string): Template {
  const fromEnd = new Int32Array(pieces.length);
  let rest = Buffer.byteLength(tail);
  for (let piece = pieces.length - 1; piece >= 0; piece--) {
    fromEnd[piece] = rest;
    rest += Buffer.byteLength(pieces[piece]!);
  }
  return { text: Buffer.from(pieces.join("") + tail), fromEnd };
}
