/** Initial value to compare the first usage of a call with in `isMore`. */
export const NOTHING_YET = -1;

/** A call counts under the LLM of which it used most; of several, under the first. `most`: of those before. */
export function isMore(totalTokens: number, most: number): boolean {
  return totalTokens > most;
}
