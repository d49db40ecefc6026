/** Reserved bytes of a disk; `set`: MIN_FREE_DISK_BYTES. */
export function reserveOf(total: number, set?: number): number {
  return set ?? Math.min(0.05 * total, 5 * 1024 ** 3);
}

/** The largest part that merges may create: a mutation needs 1.1 times its size, and may use half of the reserve. */
export function largestPart(reserve: number): number {
  return Math.floor(0.4 * reserve);
}
