import { randomBytes } from "node:crypto";

/** Differ from process to process, so that nobody can choose ids that fall into one place. */
const ODD = randomBytes(4).readInt32LE() | 1;
const OTHER_ODD = randomBytes(4).readInt32LE() | 1;

export function randomSeed(): number {
  return randomBytes(4).readInt32LE();
}

/** 32 bits of the bytes of an id, four bytes at a time. */
export function hashOf(source: DataView, place: { start: number; end: number }, seed: number): number {
  let hash = mixed(seed);
  let at = place.start;
  for (; at + 4 <= place.end; at += 4) hash = mixed(hash ^ source.getInt32(at, true));
  for (; at < place.end; at++) hash = mixed(hash ^ source.getUint8(at));
  return hash ^ (hash >>> 16);
}

/** A single multiplication would let the highest bit through as it is. */
function mixed(value: number): number {
  const once = Math.imul(value, ODD);
  return Math.imul(once ^ (once >>> 15), OTHER_ODD);
}
