export interface SingleFlight<Result> {
  /** Resolves with a run for this key that began at or after the call. */
  after(key: string): Promise<Result>;
}

/** Deduplicates runs: callers during a run share the next one, so at most one runs and one waits per key. */
export function createSingleFlight<Result>(run: (key: string) => Promise<Result>): SingleFlight<Result> {
  const running = new Map<string, Promise<Result>>();
  const waiting = new Map<string, Promise<Result>>();
  const begin = (key: string): Promise<Result> => {
    waiting.delete(key);
    const one = run(key).finally(() => running.delete(key));
    running.set(key, one);
    return one;
  };
  return {
    after(key) {
      const now = running.get(key);
      if (now === undefined) return begin(key);
      const known = waiting.get(key);
      if (known !== undefined) return known;
      const next = now.then(
        () => begin(key),
        () => begin(key),
      );
      waiting.set(key, next);
      return next;
    },
  };
}
