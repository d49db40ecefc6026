/** Finder of the bucket of an instant, fast for consecutive instants in one bucket. */
export function bucketFinder(startsUs: readonly number[]): (us: number) => number {
  let last = 0;
  return (us) => {
    if (startsUs[last]! <= us && us < (startsUs[last + 1] ?? Infinity)) return last;
    let low = 0;
    let high = startsUs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (startsUs[middle]! <= us) low = middle;
      else high = middle - 1;
    }
    last = low;
    return low;
  };
}
