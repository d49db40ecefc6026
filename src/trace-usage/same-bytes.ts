/** Where some bytes stand. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** Whether the same bytes stand in two places, four at a time. */
export function areSameBytes(source: DataView, { start, end }: Place, other: Place): boolean {
  if (other.end - other.start !== end - start) return false;
  const apart = other.start - start;
  let at = start;
  for (; at + 4 <= end; at += 4)
    if (source.getInt32(at, true) !== source.getInt32(at + apart, true)) return false;
  for (; at < end; at++) if (source.getUint8(at) !== source.getUint8(at + apart)) return false;
  return true;
}
