export interface SeededRandom {
  readonly seed: number;
  /** At least 0 and less than 1. */
  next(): number;
}

/** Another one in each run, printed; `SEED` repeats a run. */
export function chosenSeed(): number {
  const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
  process.stdout.write(`SEED=${seed}\n`);
  return seed;
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
