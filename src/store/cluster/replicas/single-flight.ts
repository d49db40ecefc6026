export interface SingleFlight<Result> {
  /** Resolves when a run for this key that began after the call is over. */
  after(key: string): Promise<Result>;
}

/** Callers that come while one run is under way share the next one: at most one runs and one waits for each key. */
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
