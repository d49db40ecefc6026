import { ROWS_PER_STEP, type Steps } from "./steps.ts";

const SORTED_AT_ONCE = 8192;

/** An array of numbers or texts, ordered as `<` and `sort` order them. */
interface Sortable<Item extends number | string> {
  readonly length: number;
  [at: number]: Item;
  slice(from: number, to: number): Sortable<Item>;
  sort(): unknown;
}

/** Sorts, with pauses: runs of items first, then each two neighbours are merged. */
export function* sortSteps<Item extends number | string>(
  items: Sortable<Item>,
  sortedAtOnce = SORTED_AT_ONCE,
): Steps<void> {
  const { length } = items;
  for (let start = 0; start < length; start += sortedAtOnce) {
    const run = items.slice(start, start + sortedAtOnce);
    run.sort();
    for (let at = 0; at < run.length; at++) items[start + at] = run[at]!;
    if (length > sortedAtOnce) yield;
  }
  for (let width = sortedAtOnce; width < length; width *= 2) {
    for (let start = 0; start + width < length; start += 2 * width) {
      yield* mergeSteps(items, { start, width, end: Math.min(start + 2 * width, length) });
    }
  }
}

function* mergeSteps<Item extends number | string>(
  items: Sortable<Item>,
  { start, width, end }: { readonly start: number; readonly width: number; readonly end: number },
): Steps<void> {
  const left = items.slice(start, start + width);
  let [l, r] = [0, start + width];
  for (let at = start; l < width; at++) {
    items[at] = r < end && items[r]! < left[l]! ? items[r++]! : left[l++]!;
    if (at % ROWS_PER_STEP === 0) yield;
  }
}
