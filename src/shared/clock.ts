/** The time, as a dependency: tests set it, `systemClock` reads it. */
export interface Clock {
  /** Milliseconds, of the time of day since 1970-01-01T00:00:00Z. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Time that only goes forward, from a beginning of its own: for waits and durations, which must not notice that somebody sets the clock. */
export const steadyClock: Clock = { now: () => performance.now() };
