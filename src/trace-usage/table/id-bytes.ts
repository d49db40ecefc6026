import { randomBytes } from "node:crypto";

/** A range of bytes. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Compares two ranges, four bytes at a time. */
export function areSameBytes(source: DataView, { start, end }: ByteRange, other: ByteRange): boolean {
  if (other.end - other.start !== end - start) return false;
  const apart = other.start - start;
  let at = start;
  for (; at + 4 <= end; at += 4)
    if (source.getInt32(at, true) !== source.getInt32(at + apart, true)) return false;
  for (; at < end; at++) if (source.getUint8(at) !== source.getUint8(at + apart)) return false;
  return true;
}

/** Random in each process, so that nobody can choose ids that collide. */
const ODD = randomBytes(4).readInt32LE() | 1;
const OTHER_ODD = randomBytes(4).readInt32LE() | 1;

export function randomSeed(): number {
  return randomBytes(4).readInt32LE();
}

/** A 32-bit hash of an id's bytes, four bytes at a time. */
export function hashOf(source: DataView, range: ByteRange, seed: number): number {
  let hash = mixed(seed);
  let at = range.start;
  for (; at + 4 <= range.end; at += 4) hash = mixed(hash ^ source.getInt32(at, true));
  for (; at < range.end; at++) hash = mixed(hash ^ source.getUint8(at));
  return hash ^ (hash >>> 16);
}

/** A single multiplication would not mix the highest bit. */
function mixed(value: number): number {
  const once = Math.imul(value, ODD);
  return Math.imul(once ^ (once >>> 15), OTHER_ODD);
}
