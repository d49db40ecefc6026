/** Long work that can pause between its steps. */
export type Steps<Result> = Generator<void, Result>;

/** Rows of work after which it may pause: a millisecond's, or less. */
export const ROWS_PER_STEP = 2048;

/** Does all of it without a pause. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
