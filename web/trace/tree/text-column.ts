/** In place of a position. */
export const NOT_FOUND = -1;

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
  /** The text of each position; `NOT_FOUND`: none. */
  readonly of: Int32Array<ArrayBuffer>;
}

export function knownTextsOf(texts: readonly (string | null)[]): DictionaryColumn {
  const known = new Map<string, number>();
  const of = new Int32Array(texts.length).fill(NOT_FOUND);
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
  const which = of[at] ?? NOT_FOUND;
  return which === NOT_FOUND ? null : textAt(texts, which);
}

/** The position of a text in its column: a hash table, at most half full. */
export type TextIndex = Int32Array<ArrayBuffer>;

/** For distinct texts. */
export function textIndexOf(column: TextColumn): TextIndex {
  const count = column.ends.length;
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 2))).fill(NOT_FOUND);
  for (let position = 0; position < count; position++)
    slots[slotOf(slots, column, textAt(column, position))] = position;
  return slots;
}

export function positionOfText(slots: TextIndex, column: TextColumn, text: string): number {
  return slots[slotOf(slots, column, text)] ?? NOT_FOUND;
}

/** The slot of the text, or the free one where it belongs. */
function slotOf(slots: TextIndex, column: TextColumn, text: string): number {
  const mask = slots.length - 1;
  for (let slot = hashOf(text) & mask; ; slot = (slot + 1) & mask) {
    const position = slots[slot]!;
    if (position === NOT_FOUND || textAt(column, position) === text) return slot;
  }
}

/** FNV-1a, of UTF-16 units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 15);
}
