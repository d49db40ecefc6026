/** Called with the reason of a wait, for operators: at once, and every ten seconds while it lasts. */
export type OnWait = (problem: string) => void;

const REPEAT_MS = 10_000;

/** Reporter of startup steps, so that a waiting start is never silent. */
export interface Progress {
  /** Reports the reason of a wait, once for several attempts. */
  waits(problem: string): void;
  /** Begins a step, reported if it takes longer than ten seconds. */
  begins(step: string): void;
  end(): void;
}

export function startProgress(onWait: OnWait = () => undefined): Progress {
  let now = "connecting to ClickHouse";
  let reported: string | undefined;
  const timer = setInterval(() => onWait(now), REPEAT_MS);
  return {
    waits(problem) {
      now = problem;
      if (problem !== reported) onWait(problem);
      reported = problem;
    },
    begins(step) {
      now = step;
    },
    end: () => clearInterval(timer),
  };
}
