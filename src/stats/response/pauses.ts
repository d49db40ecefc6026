import type { Steps } from "../../shared/steps.ts";

/** The pauses of some steps, as empty texts. */
export function* pauses<Result>(steps: Steps<Result>): Generator<string, Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield "";
  }
}
