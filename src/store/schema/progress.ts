/** Called with the reason of a wait, for operators: at once, and every ten seconds while it lasts. */
export type OnWait = (problem: string) => void;

const REPEAT_MS = 10_000;

/** Reporter of startup steps, so that a waiting start is never silent. */
export interface Progress {
  /** Reports the reason of a wait at once, and every ten seconds until the next step. */
  waits(problem: string): void;
  /** Begins a step, reported if it takes longer than ten seconds. */
  begins(step: string): void;
  end(): void;
}

export function startProgress(onWait: OnWait = () => undefined): Progress {
  let text: string | undefined;
  const timer = setInterval(() => {
    if (text !== undefined) onWait(text);
  }, REPEAT_MS);
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
