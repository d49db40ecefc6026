/** Called with what a start waits for, in words for operators: at once, and again as long as it lasts. */
export type OnWait = (problem: string) => void;

const AGAIN_AFTER_MS = 10_000;

/** Says what a start is at, so that one that waits is never silent. */
export interface Progress {
  /** Something to wait for: said at once, and every ten seconds until there is something else. */
  waits(problem: string): void;
  /** What is being done: said if it takes longer than ten seconds. */
  begins(step: string): void;
  end(): void;
}

export function startProgress(onWait: OnWait = () => undefined): Progress {
  let text: string | undefined;
  const timer = setInterval(() => {
    if (text !== undefined) onWait(text);
  }, AGAIN_AFTER_MS);
  return {
    waits(problem) {
      if (problem === text) return;
      onWait(problem);
      text = problem;
      timer.refresh();
    },
    begins(step) {
      text = step;
      timer.refresh();
    },
    end: () => clearInterval(timer),
  };
}
