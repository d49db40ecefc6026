import { textAt, type TextColumn } from "./text-column.ts";

/** The position of a text in its column: a hash table, at most half full. */
export type TextIndex = Int32Array<ArrayBuffer>;

export const NOT_FOUND = -1;

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
