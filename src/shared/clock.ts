/** The time, as a dependency: tests set it, `systemClock` reads it. */
export interface Clock {
  /** Milliseconds, of the time of day since 1970-01-01T00:00:00Z. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** A monotonic clock with an arbitrary origin: for waits and durations, which must not depend on changes of the wall clock. */
export const steadyClock: Clock = { now: () => performance.now() };
