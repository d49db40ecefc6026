export interface SeededRandom {
  readonly seed: number;
  /** At least 0 and less than 1. */
  next(): number;
}

/** The seed of everything that tests draw: the same in every run, or `SEED`. */
export function chosenSeed(): number {
  return Number(process.env["SEED"] ?? 20_261_125);
}

/** Random numbers that a seed repeats. Source: mulberry32. */
export function seededRandom(seed = chosenSeed()): SeededRandom {
  let state = seed | 0;
  return {
    seed,
    next() {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
  };
}
