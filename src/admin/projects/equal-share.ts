/**
 * The largest share that leaves nothing over: whoever wants less gets that, everybody else the share. At least 1.
 */
export function equalShare(total: number, wanted: readonly number[]): number {
  let left = total;
  const ascending = wanted.toSorted((a, b) => a - b);
  for (const [index, want] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (want > share) return Math.max(1, share);
    left -= want;
  }
  return total;
}
