/** Computes the bytes of a disk to keep free; `set`: MIN_FREE_DISK_BYTES. */
export function reserveOf(total: number, set?: number): number {
  return set ?? Math.min(0.05 * total, 5 * 1024 ** 3);
}

/** Computes the maximum part size of merges: a mutation needs 1.1 times that and may use half of the reserve. */
export function largestPart(reserve: number): number {
  return Math.floor(0.4 * reserve);
}
