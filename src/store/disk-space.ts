/** How many bytes of a disk are kept free, unless a setting says so. */
export function reserveOf(total: number, set?: number): number {
  return set ?? Math.min(0.05 * total, 5 * 1024 ** 3);
}

/** How large parts may become: a deletion rewrites them, for which 1.1 times their size must be free. Half of the reserve is. */
export function largestPart(reserve: number): number {
  return Math.floor(0.4 * reserve);
}
