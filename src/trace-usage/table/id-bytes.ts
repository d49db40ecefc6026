import { randomBytes } from "node:crypto";

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

/** Random per process, so that clients cannot choose colliding ids. */
const ODD = randomBytes(4).readInt32LE() | 1;
const OTHER_ODD = randomBytes(4).readInt32LE() | 1;

export function randomSeed(): number {
  return randomBytes(4).readInt32LE();
}

/** Hashes an id to 32 bits, four bytes at a time. */
export function hashOf(source: DataView, range: ByteRange, seed: number): number {
  let hash = mixed(seed);
  let at = range.start;
  for (; at + 4 <= range.end; at += 4) hash = mixed(hash ^ source.getInt32(at, true));
  for (; at < range.end; at++) hash = mixed(hash ^ source.getUint8(at));
  return hash ^ (hash >>> 16);
}

/** Mixes bits with two multiplications; one would not mix the highest bit. */
function mixed(value: number): number {
  const once = Math.imul(value, ODD);
  return Math.imul(once ^ (once >>> 15), OTHER_ODD);
}
