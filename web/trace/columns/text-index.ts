import { textAt, type TextColumn } from "./text-column.ts";

/** Where a text is in its column: places by the hash of the text, at most every second slot taken. */
export type TextIndex = Int32Array<ArrayBuffer>;

export const NOWHERE = -1;

/** Of texts that differ. */
export function textIndexOf(column: TextColumn): TextIndex {
  const count = column.ends.length;
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 2))).fill(NOWHERE);
  for (let place = 0; place < count; place++) slots[slotOf(slots, column, textAt(column, place))] = place;
  return slots;
}

export function placeOfText(slots: TextIndex, column: TextColumn, text: string): number {
  return slots[slotOf(slots, column, text)] ?? NOWHERE;
}

/** The slot that has the text, or the free one where it would be. */
function slotOf(slots: TextIndex, column: TextColumn, text: string): number {
  const mask = slots.length - 1;
  for (let slot = hashOf(text) & mask; ; slot = (slot + 1) & mask) {
    const place = slots[slot]!;
    if (place === NOWHERE || textAt(column, place) === text) return slot;
  }
}

/** FNV-1a, of UTF-16 units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 15);
}
