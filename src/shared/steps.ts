/** Long work that can pause between its steps. */
export type Steps<Result> = Generator<void, Result>;

/** Rows between two pauses: at most a millisecond of work. */
export const ROWS_PER_STEP = 2048;

/** Takes one item after the other. */
export function* eachItem<Item>(items: Iterable<Item>, take: (item: Item) => void): Steps<void> {
  let taken = 0;
  for (const item of items) {
    take(item);
    if (++taken % ROWS_PER_STEP === 0) yield;
  }
}

/** Does all of it without a pause. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
