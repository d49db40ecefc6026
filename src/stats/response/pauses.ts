import type { Steps } from "../../shared/steps.ts";

/** Converts the pauses of steps to empty chunks. */
export function* pauses<Result>(steps: Steps<Result>): Generator<string, Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield "";
  }
}
