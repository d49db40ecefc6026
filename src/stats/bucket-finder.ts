/** Which bucket an instant lies in; calls that come one after the other often lie in one. */
export function bucketFinder(startsMs: readonly number[]): (ms: number) => number {
  let last = 0;
  return (ms) => {
    if (startsMs[last]! <= ms && ms < (startsMs[last + 1] ?? Infinity)) return last;
    let low = 0;
    let high = startsMs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (startsMs[middle]! <= ms) low = middle;
      else high = middle - 1;
    }
    last = low;
    return low;
  };
}
