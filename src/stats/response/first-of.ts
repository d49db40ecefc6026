import { ROWS_PER_STEP, type Steps } from "../../shared/steps.ts";

/** Returns the first `most` of the numbers below `count`, in order. Cost: O(count × log most), O(most) per insertion. */
export function* firstOf(
  count: number,
  most: number,
  compare: (one: number, other: number) => number,
): Steps<readonly number[]> {
  const first: number[] = [];
  for (let one = 0; one < count; one++) {
    if (one % ROWS_PER_STEP === 0) yield;
    if (first.length === most && compare(first.at(-1)!, one) < 0) continue;
    let [low, high] = [0, first.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(first[middle]!, one) < 0) low = middle + 1;
      else high = middle;
    }
    first.splice(low, 0, one);
    if (first.length > most) first.pop();
  }
  return first;
}
