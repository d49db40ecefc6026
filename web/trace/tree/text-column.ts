/** Many texts in one string, and where each of them ends: a single object on the heap. */
export interface TextColumn {
  readonly text: string;
  readonly ends: Uint32Array<ArrayBuffer>;
}

export function textColumnOf(texts: readonly string[]): TextColumn {
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (let at = 0; at < texts.length; at++) ends[at] = end += texts[at]!.length;
  return { text: texts.join(""), ends };
}

export function textAt({ text, ends }: TextColumn, at: number): string {
  return text.slice(at === 0 ? 0 : ends[at - 1], ends[at]);
}

/** Texts with many repetitions: each text is stored once. */
export interface DictionaryColumn {
  readonly texts: TextColumn;
  /** The text of each position; `NO_TEXT`: none. */
  readonly of: Int32Array<ArrayBuffer>;
}

export const NO_TEXT = -1;

export function knownTextsOf(texts: readonly (string | null)[]): DictionaryColumn {
  const known = new Map<string, number>();
  const of = new Int32Array(texts.length).fill(NO_TEXT);
  for (let at = 0; at < texts.length; at++) {
    const text = texts[at]!;
    if (text === null) continue;
    const which = known.get(text) ?? known.size;
    known.set(text, which);
    of[at] = which;
  }
  return { texts: textColumnOf([...known.keys()]), of };
}

export function knownTextAt({ texts, of }: DictionaryColumn, at: number): string | null {
  const which = of[at] ?? NO_TEXT;
  return which === NO_TEXT ? null : textAt(texts, which);
}
