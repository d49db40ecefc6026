import { chosenSeed } from "./seeded-random.ts";

/** Before all tests: what to set to draw the same again. */
export function setup(): void {
  process.stdout.write(`SEED=${chosenSeed()} (SEED=… draws others)\n`);
}
